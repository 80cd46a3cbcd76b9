#!/usr/bin/env python3
"""The tables 'Splitting against the MILP and the heuristics' of docs/results.md, in Markdown.

    bench/splitting.py build/situ [--time SECONDS] [--milp-time SECONDS] [--platform NAME] [NETWORK...]

Latency: one row for each network, one column for each solver, value in ms and wall seconds. Throughput: the period in ms of
the fastest GPU alone, of one placement (free, by links), and by input of four copies at once, each with the bound.
"""
import argparse
import json
import subprocess

NETWORKS = ['resnet50', 'inception-v3', 'mobilenet-v2', 'bert-base', 'gnmt', 'randwire-ws', 'randwire-er', 'randwire-ba']
SOLVERS = ['heft', 'peft', 'm_etf', 'splitting', 'milp', 'auto']


def place(args, network, *options):
    call = [args.situ, 'place', 'builtin:' + network, '--platform', args.platform, '--json', *map(str, options)]
    done = subprocess.run(call, capture_output=True, text=True)
    return json.loads(done.stdout) if done.stdout else {'value_ns': None, 'lower_bound_ns': 0, 'seconds': 0}


def ms(nanoseconds):
    return '-' if nanoseconds is None else '%.4f' % (nanoseconds / 1e6)


def latency_row(args, network):
    gpu = place(args, network, '--solver', 'single', '--unused', 'cpu')
    cells, bound = [], 0
    for solver in SOLVERS:
        limit = {'splitting': args.time, 'auto': args.time, 'milp': args.milp_time}.get(solver)
        found = place(args, network, '--solver', solver, *(['--time-limit', limit] if limit else []))
        bound = max(bound, found['lower_bound_ns'])
        cells.append('%s (%.2f s)' % (ms(found['value_ns']), found['seconds']))
    return [network, str(gpu.get('operators', '')), ms(gpu.get('best_single_ns')), ms(gpu['value_ns']), *cells, ms(bound)]


def throughput_row(args, network):
    gpu = place(args, network, '--solver', 'single', '--unused', 'cpu')
    one = place(args, network, '--max-latency', 1e6, '--time-limit', args.time)
    four = place(args, network, '--copies', 4, '--time-limit', args.time)
    each = four['value_ns'] / 4 if four['value_ns'] else None
    bound = max(one['lower_bound_ns'], four['lower_bound_ns'] / 4)
    best = min(x for x in (one['value_ns'], each) if x)
    return [network, ms(gpu['value_ns']), ms(one['value_ns']), ms(one.get('latency_ns')), ms(each),
            ms(four['value_ns']), ms(bound), '%.2f' % (gpu['value_ns'] / best)]


def table(titles, rows):
    print('| ' + ' | '.join(titles) + ' |')
    print('|' + '-|' * len(titles))
    for row in rows:
        print('| ' + ' | '.join(row) + ' |', flush=True)
    print(flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('situ')
    parser.add_argument('networks', nargs='*', default=NETWORKS)
    parser.add_argument('--time', type=float, default=10)
    parser.add_argument('--milp-time', type=float, default=60)
    parser.add_argument('--platform', default='cpu+v100-16g+p100-16g')
    args = parser.parse_args()
    table(['network', 'operators', 'best single', 'fastest GPU', *SOLVERS, 'bound'],
          (latency_row(args, n) for n in args.networks))
    table(['network', 'fastest GPU', 'one placement', 'its latency', 'four copies, by input', 'all four', 'bound', 'gain'],
          (throughput_row(args, n) for n in args.networks))


if __name__ == '__main__':
    main()

#!/usr/bin/env python3
"""Splitting against the MILP and the heuristics, as CSV.

    bench/splitting.py build/situ --table latency|throughput|platforms|memory [--steps N] [--auto-steps N] [--milp-steps N]
                       [--platform NAME] [NETWORK...]

Latency: one row for each network, one column for each solver, value in ms and seconds of the processor. All limits are steps, so
that values repeat whatever else the machine does; `as good` is the time in which splitting is as good as milp. Throughput: the
period in ms of the fastest GPU alone, of one placement (free, by links), and by input of four copies at once, with the bound.
Platforms: how many times as fast as the fastest GPU one input of the largest randomly wired network is on other platforms of a CPU
and two unlike GPUs, and what the bound rules out. Memory: latency where either GPU has the memory that the fastest GPU alone takes, a half,
a quarter and an eighth of it; the rest is the CPU's.
"""
import argparse
import csv
import itertools
import json
import pathlib
import resource
import subprocess
import sys
import tempfile

SMALL = ['randwire-ws?stages=1&nodes=4', 'randwire-ws?stages=1&nodes=6', 'randwire-ba?stages=1&nodes=8&m=2']
NETWORKS = SMALL + ['resnet50', 'inception-v3', 'mobilenet-v2', 'bert-base', 'gnmt', 'randwire-ws', 'randwire-er', 'randwire-ba']
PLATFORMS = ['cpu+v100-16g+p100-16g', 'cpu+v100-16g+t4', 'cpu+a100-40g+v100-16g', 'cpu+rtx4090+rtx3060', 'cpu+l4-24g+t4',
             'epyc9755+v100-16g+p100-16g', 'grace+v100-16g+p100-16g', 'i9-14900k+v100-16g+p100-16g', 'xeon8592+k80+p4']
TIGHT, SHARES = ['resnet50', 'inception-v3', 'bert-base', 'randwire-ws', 'randwire-ba'], [1, 2, 4, 8]
SOLVERS = ['heft', 'peft', 'm_etf', 'splitting', 'm_etf,splitting', 'milp', 'auto']
FOUND = ['--tolerance', '0', '--uncertainty', '0', '--min-gain', '0']  # what is found, not what is worth it


def place(args, network, *options):
    call = [args.situ, 'place', 'builtin:' + network, '--platform', args.platform, '--fusion', 'none', '--json', *FOUND,
            *map(str, options)]
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    done = subprocess.run(call, capture_output=True, text=True)
    found = json.loads(done.stdout) if done.stdout else {'value_ns': None, 'lower_bound_ns': 0}
    found['seconds'] = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
    return found


def as_good(args, network, value_ns):
    """Seconds that splitting takes for a value no greater, '-' when it does not come to one."""
    steps = 10
    while value_ns and steps <= args.steps:
        found = place(args, network, '--solver', 'splitting', '--steps', steps)
        if found['value_ns'] is not None and found['value_ns'] <= value_ns:
            return '%.2f s' % found['seconds']
        steps *= 3
    return '-'


def ms(nanoseconds):
    return '-' if nanoseconds is None else '%.4f' % (nanoseconds / 1e6)


def latency_row(args, network):
    gpu = place(args, network, '--solver', 'single', '--unused', 'cpu')
    cells, bound, milp = [], 0, None
    for solver in SOLVERS:
        steps = {'splitting': args.steps, 'm_etf,splitting': args.steps, 'auto': args.auto_steps, 'milp': args.milp_steps}.get(solver)
        limit = ['--steps', steps] if steps else []
        found = place(args, network, '--solver', solver, *limit)
        if solver == 'milp':
            milp = found['value_ns']
        bound = max(bound, found['lower_bound_ns'])
        cells.append('%s (%.2f s)' % (ms(found['value_ns']), found['seconds']))
    return [network, str(gpu.get('operators', '')), ms(found.get('best_single_ns')), ms(gpu['value_ns']), *cells, ms(bound),
            as_good(args, network, milp)]


def throughput_row(args, network):
    gpu = place(args, network, '--solver', 'single', '--unused', 'cpu')
    one = place(args, network, '--max-latency', 1e6, '--steps', args.auto_steps)
    four = place(args, network, '--copies', 4, '--steps', args.auto_steps)
    each = four['value_ns'] / 4 if four['value_ns'] else None
    bound = max(one['lower_bound_ns'], four['lower_bound_ns'] / 4)
    best = min(x for x in (one['value_ns'], each) if x)
    return [network, ms(gpu['value_ns']), ms(one['value_ns']), ms(one.get('latency_ns')), ms(each),
            ms(four['value_ns']), ms(bound), '%.2f' % (gpu['value_ns'] / best)]


def platform_row(args, platform):
    args.platform = platform
    gpu = place(args, NETWORKS[-1], '--solver', 'single', '--unused', 'cpu')
    auto = place(args, NETWORKS[-1], '--steps', args.auto_steps)
    return [platform, ms(gpu['value_ns']), ms(auto['best_single_ns']), ms(auto['value_ns']), ms(auto['lower_bound_ns']),
            '%.2f' % (gpu['value_ns'] / auto['value_ns']), '%.2f' % (gpu['value_ns'] / auto['lower_bound_ns'])]


def memory_rows(args, network):
    """One for each share of the memory that the fastest GPU alone takes."""
    gpu = place(args, network, '--solver', 'single', '--unused', 'cpu')
    taken = max(device['memory_bytes'] for device in gpu['devices'])
    with tempfile.TemporaryDirectory() as folder:
        args.platform = str(pathlib.Path(folder) / 'platform.json')
        for part in SHARES:
            gpus = [{'name': f'gpu{d}', 'base': base, 'memory_bytes': taken // part} for d, base in enumerate(['v100-16g', 'p100-16g'])]
            pathlib.Path(args.platform).write_text(json.dumps(
                {'situ_platform': 1, 'name': 'tight', 'devices': [{'name': 'cpu', 'base': 'cpu'}, *gpus],
                 'links': [{'from': 'cpu', 'to': gpu['name'], 'kind': 'pcie3'} for gpu in gpus]}))
            found = [place(args, network, '--solver', solver, *limit) for solver, limit in
                     (('heft', []), ('m_etf', []), ('splitting', ['--steps', args.steps]), ('auto', ['--steps', args.auto_steps]))]
            bound = max(f['lower_bound_ns'] for f in found)
            yield [network, '%.1f' % (taken / part / 1e6), *(ms(f['value_ns']) for f in found), ms(bound)]


def table(titles, rows):
    out = csv.writer(sys.stdout, lineterminator='\n')
    for row in itertools.chain([titles], rows):
        out.writerow(row)
        sys.stdout.flush()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('situ')
    parser.add_argument('networks', nargs='*')
    parser.add_argument('--table', choices=['latency', 'throughput', 'platforms', 'memory'], required=True)
    parser.add_argument('--steps', type=int, default=60000)
    parser.add_argument('--auto-steps', type=int, default=20000)
    parser.add_argument('--milp-steps', type=int, default=1000000)
    parser.add_argument('--platform', default='cpu+v100-16g+p100-16g')
    args = parser.parse_intermixed_args()
    args.networks = args.networks or (TIGHT if args.table == 'memory' else NETWORKS)
    if args.table == 'latency':
        table(['network', 'operators', 'best single', 'fastest GPU', *SOLVERS, 'bound', 'as good'],
              (latency_row(args, n) for n in args.networks))
    elif args.table == 'memory':
        table(['network', 'memory of a GPU MB', 'heft', 'm_etf', 'splitting', 'auto', 'bound'],
              (row for n in args.networks for row in memory_rows(argparse.Namespace(**vars(args)), n)))
    elif args.table == 'platforms':
        table(['platform', 'fastest GPU', 'best single', 'auto', 'bound', 'gain', 'gain at most'],
              (platform_row(args, p) for p in PLATFORMS))
    else:
        table(['network', 'fastest GPU', 'one placement', 'its latency', 'four copies, by input', 'all four', 'bound', 'gain'],
              (throughput_row(args, n) for n in args.networks))


if __name__ == '__main__':
    main()

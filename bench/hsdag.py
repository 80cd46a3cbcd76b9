#!/usr/bin/env python3
"""HSDAG and its rivals, as CSV.

    hsdag.py SITU CSV --table values|ablation [--data FOLDER] [--trials N] [--seeds N] [--platform FILE] [MODEL...]
    hsdag.py SITU CSV --table groups --data FOLDER

Models, unless given: built-in ones, and OpenVINO IR files of FOLDER where it is given. A line is one run: the best value of a row on a
model with one seed, its trials, clusters of the best placement, seconds of one core. Runs what the CSV does not hold yet and appends it
there; bench/tables.py makes tables of it. Values: each method, with --trials N trials where it learns. Ablation: situ's HSDAG without
each group of features. Groups: layers of the IR file and what they are coarsened and parsed to; written anew. Rows that draw at random
are made with the seeds 0 to N - 1 (--seeds N). Rows of solvers that this build lacks are left out.
"""
import argparse
import collections
import csv
import itertools
import json
import os
import pathlib
import sys
import tempfile
import xml.etree.ElementTree

from workloads import run

BUILT_IN = ['builtin:inception-v3', 'builtin:resnet50', 'builtin:bert-base']
FILES = ['inception_v3_i8.xml', 'resnet_v1_50_i8.xml', 'all_mpnet_base_v2.xml']
FEATURES = ['kinds', 'degrees', 'fractal', 'closeness', 'position', 'shape', 'index', 'times']
AUTO_STEPS = 20000
FEW = 60  # trials: single devices come before the first of the policy
PUBLISHED_TRIALS, OUR_TRIALS, RANDOM_DRAWS = 20, 11, 64  # of an update, of an update, of a run
FIELDS = ['model', 'row', 'trials asked', 'seed', 'value_ns', 'trials', 'groups', 'bound_ns', 'cpu_s']


def place(args, model, seed, *words):
    """What `situ place` prints, with the seconds it took; None when it fails."""
    try:
        found, cpu, _ = run([args.situ, 'place', model, '--fusion', 'none', '--platform', args.platform, '--seed', str(seed), '--json',
                             *map(str, words)])
    except json.JSONDecodeError:
        return None
    return {'value_ns': found['value_ns'], 'trials': found['steps'], 'groups': found['statistics'].get('groups', ''),
            'bound_ns': found['lower_bound_ns'], 'cpu_s': cpu, 'operators': found['operators'],
            'coarse_groups': found['statistics'].get('coarse_groups')}


def learn(args, model, seed, steps, *words):
    """What a policy trained by trials of its own found."""
    with tempfile.TemporaryDirectory() as folder:
        log = os.path.join(folder, 'log')
        command = [args.situ, 'learn', 'hsdag', model, '--fusion', 'none', '--platform', args.platform, '--seed', str(seed),
                   '--steps', str(steps), '-o', os.path.join(folder, 'policy'), '--json', *words]
        _, cpu, _ = run(['sh', '-c', 'log=$1; shift; "$@" > "$log" && tail -n 1 "$log"', 'learn', log, *command])
        *steps_told, found = map(json.loads, open(log).read().splitlines())
    return {'value_ns': found['problems'][0]['best_ns'], 'trials': found['trials'], 'groups': steps_told[-1].get('groups', ''), 'cpu_s': cpu}


def best_random(args, model, seed):
    n_runs = -(-args.trials // RANDOM_DRAWS)
    draws = [place(args, model, seed * n_runs + k, '--solver', 'random') for k in range(n_runs)]
    return {'value_ns': min(d['value_ns'] for d in draws), 'trials': sum(d['trials'] for d in draws), 'cpu_s': sum(d['cpu_s'] for d in draws)}


def values(trials):
    """Each row: its name, whether seeds change it, and what makes it."""
    yield 'CPU-only', False, lambda a, m, s: place(a, m, s, '--solver', 'single', '--unused', 'gpu1')
    yield 'GPU-only, also HETERO:GPU,CPU', False, lambda a, m, s: place(a, m, s, '--solver', 'single', '--unused', 'cpu')
    yield 'heft', False, lambda a, m, s: place(a, m, s, '--solver', 'heft')
    yield 'auto', False, lambda a, m, s: place(a, m, s, '--steps', AUTO_STEPS, '--tolerance', 0, '--uncertainty', 0, '--min-gain', 0)
    yield 'HSDAG, ours', True, lambda a, m, s: place(a, m, s, '--solver', 'hsdag', '--steps', trials)
    yield 'HSDAG, ours, after heft', True, lambda a, m, s: place(a, m, s, '--solver', 'heft,hsdag', '--steps', trials)
    for name in ['cross_entropy', 'placeto', 'rnn_placer', 'hdp']:
        yield name, True, lambda a, m, s, n=name: place(a, m, s, '--solver', n, '--steps', trials)
    updates = trials // PUBLISHED_TRIALS
    yield 'HSDAG `--paper`, one level', True, lambda a, m, s: learn(a, m, s, updates, '--paper')
    yield 'HSDAG `--paper`, parsing to the end', True, lambda a, m, s: learn(a, m, s, updates, '--paper', '--variant', 'levels=0')
    for levels in [[], ['levels=0']]:
        title = 'parsing to the end' if levels else 'one level'
        yield f'HSDAG `--paper`, {title}, no constants', True, lambda a, m, s, w=levels: learn(a, m, s, updates, '--paper', '--variant',
                                                                                              ','.join(['constants=0', *w]))
    yield 'random', True, best_random


def ablation(trials):
    for words in [()] + [('--variant', 'without=' + f) for f in FEATURES]:
        name = words[1].replace('=', ' ') if words else 'all features'
        yield name, True, lambda a, m, s, w=words: learn(a, m, s, trials // OUR_TRIALS, *w)


def append(args, models, rows):
    """One seed of everything after the other, so that what is cut short has fewer seeds, not fewer rows."""
    path = pathlib.Path(args.csv)
    done = {(r['model'], r['row'], r['trials asked'], r['seed']) for r in csv.DictReader(path.open())} if path.exists() else set()
    with path.open('a', newline='') as out:
        writer = csv.DictWriter(out, FIELDS, lineterminator='\n', restval='', extrasaction='ignore')
        if not done:
            writer.writeheader()
        for seed in range(args.seeds):
            for (name, seeded, make), model in itertools.product(rows, models):
                if args.rows and name not in args.rows.split(';') or seed and not seeded:
                    continue
                key = (os.path.basename(model), name, str(args.trials if seeded else ''), str(seed))
                if key in done:
                    continue
                found = make(args, model, seed)
                if found and found['value_ns']:
                    found['cpu_s'] = f"{found['cpu_s']:.2f}"
                    writer.writerow({**found, **dict(zip(FIELDS, key))})
                    out.flush()


def groups(args, models):
    """A layer that reads from exactly one other belongs to the group of that; constants alone hold no operator of situ's."""
    out = csv.writer(open(args.csv, 'w', newline=''), lineterminator='\n')
    out.writerow(['file', 'layers', 'edges', 'groups by the rule', 'that hold an operator', "situ's operators", 'groups', 'clusters'])
    for path in models:
        if not path.endswith('.xml'):
            continue
        root = xml.etree.ElementTree.parse(path).getroot()
        kind = {layer.get('id'): layer.get('type') for layer in root.find('layers')}
        producers = collections.defaultdict(set)
        for edge in root.find('edges'):
            producers[edge.get('to-layer')].add(edge.get('from-layer'))
        n_groups = sum(len(producers[layer]) != 1 for layer in kind)
        held = set()
        for layer in kind:
            if kind[layer] in ('Const', 'Parameter', 'Result'):
                continue
            while len(producers[layer]) == 1:
                layer, = producers[layer]
            held.add(layer)
        found = place(args, path, 0, '--solver', 'hsdag', '--steps', FEW)
        out.writerow([os.path.basename(path), len(kind), sum(map(len, producers.values())), n_groups, len(held),
                      found['operators'], found['coarse_groups'], found['groups']])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('situ')
    parser.add_argument('csv')
    parser.add_argument('--data')
    parser.add_argument('--platform', default=os.path.join(os.path.dirname(__file__), '..', 'share', 'platforms', 'hsdag.json'))
    parser.add_argument('--trials', type=int, default=500)
    parser.add_argument('--seeds', type=int, default=1)
    parser.add_argument('--rows', help='names of rows, separated by semicolons; the others are left out')
    parser.add_argument('--table', choices=['values', 'ablation', 'groups'], required=True)
    parser.add_argument('models', nargs='*')
    args = parser.parse_intermixed_args()
    models = args.models or BUILT_IN + [os.path.join(args.data, f) for f in FILES if args.data]
    if args.table == 'groups':
        groups(args, models)
    else:
        append(args, models, list({'values': values, 'ablation': ablation}[args.table](args.trials)))


if __name__ == '__main__':
    main()

#!/usr/bin/env python3
"""HSDAG and its rivals, as CSV.

    bench/hsdag.py build/situ [MODEL...] [--data FOLDER] [--trials N] [--platform FILE] [--seeds N] --table NAME

Models, unless given: built-in ones, and OpenVINO IR files of FOLDER where it is given. Values: latency in ms of each method with the
trials it made and seconds of the processor. Ablation: situ's HSDAG without each group of features. Groups: layers of the IR file
and what they are coarsened and parsed to. Rows of solvers that this build lacks are left out. Rows that draw at random are made with the seeds 0 to N - 1 (--seeds N):
the median, the range, and trials and seconds of the median run.
"""
import argparse
import collections
import csv
import itertools
import json
import os
import resource
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

BUILT_IN = ['builtin:inception-v3', 'builtin:resnet50', 'builtin:bert-base']
FILES = ['inception_v3_i8.xml', 'resnet_v1_50_i8.xml', 'all_mpnet_base_v2.xml']
FEATURES = ['kinds', 'degrees', 'fractal', 'closeness', 'position', 'shape', 'index', 'times']
AUTO_STEPS = 20000
FEW = 60  # trials: single devices come before the first of the policy
PUBLISHED_TRIALS, OUR_TRIALS, RANDOM_DRAWS = 20, 11, 64  # of an update, of an update, of a run


def call(args, *words):
    """The last line of JSON that a command prints, with the seconds it took; None when it fails."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    done = subprocess.run([args.situ, *map(str, words)], capture_output=True, text=True)
    if done.returncode != 0 or not done.stdout:
        return None
    text = done.stdout if done.stdout.lstrip().startswith('{\n') else done.stdout.splitlines()[-1]
    found = json.loads(text)
    found['cpu'] = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
    return found


def place(args, model, *words):
    return call(args, 'place', model, '--fusion', 'none', '--platform', args.platform, '--seed', args.seed, '--json', *words)


def learn(args, model, steps, *words):
    """What a policy trained by trials of its own found."""
    with tempfile.TemporaryDirectory() as folder:
        found = call(args, 'learn', 'hsdag', model, '--fusion', 'none', '--platform', args.platform, '--seed', args.seed, '--steps', steps,
                     '-o', os.path.join(folder, 'policy'), '--json', *words)
    found['value_ns'] = found['problems'][0]['best_ns']
    return found


def best_random(args, model):
    draws = [call(args, 'place', model, '--fusion', 'none', '--platform', args.platform, '--seed', args.seed + k, '--json', '--solver', 'random')
             for k in range(-(-args.trials // RANDOM_DRAWS))]
    return dict(value_ns=min(d['value_ns'] for d in draws), steps=sum(d['steps'] for d in draws), cpu=sum(d['cpu'] for d in draws))


def cell(found, among='', trials=None):
    if not found or not found.get('value_ns'):
        return '-'
    trials = found.get('trials', found.get('steps', '')) if trials is None else trials
    return '%.3f (%s%s, %.1f s)' % (found['value_ns'] / 1e6, among, trials, found['cpu'])


def over_seeds(args, make):
    """The median run of all seeds, the lower of two, and its range as text."""
    runs = []
    for seed in range(args.seeds):
        args.seed = seed
        runs.append(make())
    args.seed = 0
    runs.sort(key=lambda found: found['value_ns'])
    among = '%.3f to %.3f; ' % (runs[0]['value_ns'] / 1e6, runs[-1]['value_ns'] / 1e6) if len(runs) > 1 else ''
    return runs[(len(runs) - 1) // 2], among


def drawn(args, model, *words):
    return cell(*over_seeds(args, lambda: place(args, model, *words)))


def published(args, model, *words):
    found, among = over_seeds(args, lambda: learn(args, model, args.trials // PUBLISHED_TRIALS, '--paper', *words))
    return cell(found, among, '%d of %d' % (found['trials'], args.trials))


def ours(args, model):
    found, among = over_seeds(args, lambda: place(args, model, '--solver', 'hsdag', '--steps', args.trials))
    return '%s, %s groups' % (cell(found, among), found['statistics'].get('groups'))


def methods():
    """Each row: its name and what fills a cell."""
    yield 'CPU-only', lambda a, m: cell(place(a, m, '--solver', 'single', '--unused', 'gpu1'))
    yield 'GPU-only, also HETERO:GPU,CPU', lambda a, m: cell(place(a, m, '--solver', 'single', '--unused', 'cpu'))
    yield 'random', lambda a, m: cell(best_random(a, m))
    for name in ['cross_entropy', 'placeto', 'rnn_placer', 'hdp']:
        yield name, lambda a, m, s=name: drawn(a, m, '--solver', s, '--steps', a.trials)
    yield 'HSDAG `--paper`, parsing to the end', lambda a, m: published(a, m, '--variant', 'levels=0')
    yield 'HSDAG `--paper`, one level', published
    yield 'HSDAG, ours', ours
    yield 'heft', lambda a, m: cell(place(a, m, '--solver', 'heft'))
    yield 'auto', lambda a, m: cell(place(a, m, '--steps', AUTO_STEPS, '--tolerance', 0, '--uncertainty', 0, '--min-gain', 0))
    yield 'bound', lambda a, m: '%.3f' % (place(a, m, '--steps', AUTO_STEPS)['lower_bound_ns'] / 1e6)


def table(titles, rows):
    out = csv.writer(sys.stdout, lineterminator='\n')
    for row in itertools.chain([titles], rows):
        out.writerow(row)
        sys.stdout.flush()


def values(args, models):
    def fill(method, model):
        try:
            return method(args, model)
        except (TypeError, KeyError):  # the command failed: this build has no such solver
            return '-'
    table(['', *map(os.path.basename, models)], ([name, *(fill(m, x) for x in models)] for name, m in methods()))


def ablation(args, models):
    def fill(model, words):
        return cell(*over_seeds(args, lambda: learn(args, model, args.trials // OUR_TRIALS, *words)))
    rows = [('all features', ())] + [('without ' + f, ('--variant', 'without=' + f)) for f in FEATURES]
    table(['', *map(os.path.basename, models)], ([name, *(fill(m, words) for m in models)] for name, words in rows))


def groups(args, models):
    """A layer that reads from exactly one other belongs to the group of that; constants alone hold no operator of situ's."""
    rows = []
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
        found = place(args, path, '--solver', 'hsdag', '--steps', FEW)
        rows.append([os.path.basename(path), str(len(kind)), str(sum(map(len, producers.values()))), str(n_groups), str(len(held)),
                     str(found['operators']), str(found['statistics'].get('coarse_groups')), str(found['statistics'].get('groups'))])
    table(['file', 'layers', 'edges', 'groups by the rule', 'that hold an operator', "situ's operators", 'groups', 'clusters'], rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('situ')
    parser.add_argument('--data')
    parser.add_argument('--platform', default=os.path.join(os.path.dirname(__file__), '..', 'share', 'platforms', 'hsdag.json'))
    parser.add_argument('--trials', type=int, default=500)
    parser.add_argument('--seeds', type=int, default=1)
    parser.add_argument('--table', choices=['values', 'ablation', 'groups'], required=True)
    parser.add_argument('models', nargs='*')
    args = parser.parse_intermixed_args()
    args.seed = 0
    models = args.models or BUILT_IN + [os.path.join(args.data, f) for f in FILES if args.data]
    {'values': values, 'ablation': ablation, 'groups': groups}[args.table](args, models)


if __name__ == '__main__':
    main()

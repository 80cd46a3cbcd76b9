#!/usr/bin/env python3
"""Predicted and measured times of plans on real engines, as CSV.

    bench/measured.py SITU DATA [MODEL...] [--engine NAME]... [--rounds N] [--items N] [--time-limit S] > bench/measured.csv

DATA is a folder of ONNX files. Each model is profiled on one core and on two, and placed on what two cores can be: one
device of a thread, one of two threads, two devices (branches side by side, a pipeline, replicas), two unlike devices,
the second slowed down by 2. All plans of a model then run in turn, round after round, so that all see the same machine:
the measured time is the median of the rounds, the spread half the distance of their quartiles. What fails says why in
its row, and the others go on. `by parts ms` is the latency that situ run predicts from the parts of the plan, and where it
does not, the prediction of the plan. `situ place` picks the plan of the lowest predicted time on two equal cores.
"""
import argparse
import csv
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

MODELS = ['light_squeezenet', 'light_inception_v2', 'light_resnet50', 'light_densenet121', 'TFBertForQuestionAnswering', 'gpt2_past']
ENGINES = ['onnxruntime', 'openvino']
SLOWER = 2
COLUMNS = ['engine', 'model', 'plan', 'time of', 'predicted ms', 'by parts ms', 'measured ms', 'spread ms', 'off %', 'by parts off %', 'parts', 'worst stage off %', 'note']
UNLIKE = {'situ_platform': 1, 'name': 'unlike', 'devices': [{'name': 'cpu0', 'base': 'cpu'}, {'name': 'cpu1', 'base': 'cpu', 'class': 'slow'}],
          'links': [{'from': 'cpu0', 'to': 'cpu1', 'kind': 'upi'}]}
# What two cores can be: name, platform, options of place, options of run; of two equal cores or not.
PLANS = [
    ('whole, 1 thread', 'latency', '2*cpu', ['--solver', 'single'], [], True),
    ('whole, 2 threads', 'latency', 'cpu', ['--solver', 'single'], ['--threads', '2'], True),
    ('two devices, branches side by side', 'latency', '2*cpu', ['--min-gain', '0'], [], True),
    ('two unlike devices', 'latency', 'unlike', ['--min-gain', '0'], ['--map', f'cpu1=1/{SLOWER}'], False),
    ('two replicas', 'throughput', '2*cpu', ['--replicate', '--solver', 'single'], [], True),
    ('pipeline of two', 'throughput', '2*cpu', [], [], True),
    ('pipeline of two unlike devices', 'throughput', 'unlike', [], ['--map', f'cpu1=1/{SLOWER}'], False),
]


def call(args, *words):
    try:
        done = subprocess.run([args.situ, *map(str, words)], capture_output=True, text=True, timeout=args.time_limit)
    except subprocess.TimeoutExpired:
        raise RuntimeError(f'situ {words[0]} took longer than {args.time_limit:g} s') from None
    if done.returncode != 0:
        raise RuntimeError(done.stderr.strip().splitlines()[-1] if done.stderr.strip() else f'exit code {done.returncode}')
    return json.loads('{' + ('\n' + done.stdout).rsplit('\n{\n', 1)[1]) if '--json' in words else None  # after the lines of a log


def unlike_table(table):
    """The table of one device with a second class, all of whose work takes SLOWER times as long."""
    def both(times):
        return {**times, 'slow': SLOWER * times['cpu']}
    slow = [dict(part, **{'class': 'slow', 'start': SLOWER * part['start']},
                 **({'bytes_per_s': part['bytes_per_s'] / SLOWER} if 'bytes_per_s' in part else {})) for part in table.get('parts', [])]
    return {**table, 'classes': ['cpu', 'slow'], 'operators': {name: both(times) for name, times in table['operators'].items()},
            'groups': [dict(group, times=both(group['times'])) for group in table['groups']],
            'links': [dict(link, **{'from': a, 'to': b}) for link in table.get('links', []) for a in ('cpu', 'slow') for b in ('cpu', 'slow')],
            'parts': table.get('parts', []) + slow}


def replicated(path):
    """Makes the second device of a plan for one a replica of the first."""
    plan = json.loads(path.read_text())
    one, other = plan['devices'] if plan['devices'][0]['operators'] else plan['devices'][::-1]
    other['replica_of'] = one['name']
    plan['value_ns'] = -(-plan['value_ns'] // 2)
    path.write_text(json.dumps(plan))


def prepare(args, folder, engine, model):
    """The plans of one model: {name: (path, parts, words of run)}, or what went wrong in place of the path."""
    costs = {'2*cpu': folder / 'one.json', 'cpu': folder / 'two.json', 'unlike': folder / 'unlike.json'}
    for threads, name in ((1, '2*cpu'), (2, 'cpu')):
        call(args, 'profile', model, '--engine', engine, '--threads', threads, '--items', 4 * args.items, '-o', costs[name])
    costs['unlike'].write_text(json.dumps(unlike_table(json.loads(costs['2*cpu'].read_text()))))
    (folder / 'platform.json').write_text(json.dumps(UNLIKE))
    found = {}
    for k, (name, objective, platform, words, run, _) in enumerate(PLANS):
        path = folder / f'{k}.plan'
        try:
            output = call(args, 'place', model, '--platform', folder / 'platform.json' if platform == 'unlike' else platform, '--cost-table',
                        costs[platform], '--objective', objective, '--steps', 20000, '--json', '-o', path, *words)
            if 'replicas' in name:
                replicated(path)
            split = name.startswith(('two', 'pipeline')) and 'replicas' not in name
            found[name] = 'one device is predicted to be faster' if split and output['n_parts'] == 1 else (path, output['n_parts'], run)
        except (RuntimeError, KeyError) as error:
            found[name] = str(error)
    return found


def measure(args, engine, plans):
    """Rounds in which all plans run in turn: {name: [what each run told]}; a plan that fails is left out from then on."""
    runs = {name: [] for name, plan in plans.items() if not isinstance(plan, str)}
    for _ in range(args.rounds):
        for name in list(runs):
            path, _, words = plans[name]
            try:
                runs[name].append(call(args, 'run', path, '--engine', engine, '--items', args.items, '--warm-up', 2, '--json', *words))
            except RuntimeError as error:
                plans[name] = str(error)
                del runs[name]
    return runs


def quartile_distance(values):
    values = sorted(values)
    return (values[3 * (len(values) - 1) // 4] - values[(len(values) - 1) // 4]) / 2


def worst_stage(runs):
    """The stage of a pipeline whose load is predicted worst, in per cent; medians of all runs."""
    off = [median(100 * (s['predicted_ns'] / s['measured_ns'] - 1) for s in stage) for stage in zip(*(run['stages'] for run in runs))]
    return f'{max(off, key=abs):+.1f}'


def rows_of(engine, model, plans, runs):
    for name, objective, *_ in PLANS:
        row = dict.fromkeys(COLUMNS, '') | {'engine': engine, 'model': model, 'plan': name,
                                            'time of': 'one input' if objective == 'latency' else 'many, each'}
        if name not in runs or not runs[name]:
            yield row | {'note': plans.get(name, 'was not placed')}
            continue
        measured = [run['measured_ns'] / 1e6 for run in runs[name]]
        predicted = runs[name][0]['predicted_ns'] / 1e6
        equal = all(run['outputs_equal'] for run in runs[name])
        pipeline = objective == 'throughput'
        by_parts = runs[name][0].get('by_parts_ns', runs[name][0]['predicted_ns']) / 1e6
        yield row | {'predicted ms': f'{predicted:.3f}', 'by parts ms': f'{by_parts:.3f}', 'measured ms': f'{median(measured):.3f}',
                     'spread ms': f'{quartile_distance(measured):.3f}', 'off %': f'{100 * (predicted / median(measured) - 1):+.1f}',
                     'by parts off %': f'{100 * (by_parts / median(measured) - 1):+.1f}',
                     'parts': plans[name][1], 'worst stage off %': worst_stage(runs[name]) if pipeline else '',
                     'note': '' if equal else 'outputs differ'}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('situ')
    parser.add_argument('data', type=Path)
    parser.add_argument('models', nargs='*', default=MODELS)
    parser.add_argument('--engine', action='append')
    parser.add_argument('--rounds', type=int, default=5)
    parser.add_argument('--items', type=int, default=7)
    parser.add_argument('--time-limit', type=float, default=60, help='seconds for one call of situ')
    args = parser.parse_args()
    args.situ = os.path.abspath(args.situ)
    out = csv.DictWriter(sys.stdout, COLUMNS, lineterminator='\n')
    out.writeheader()
    for engine in args.engine or ENGINES:
        for model in args.models:
            begun = time.monotonic()
            plans, runs = {}, {}
            with tempfile.TemporaryDirectory() as folder:
                try:
                    plans = prepare(args, Path(folder), engine, args.data / f'{model}.onnx')
                    runs = measure(args, engine, plans)
                except RuntimeError as error:
                    plans = {name: str(error) for name, *_ in PLANS}
            for row in rows_of(engine, model, plans, runs):
                out.writerow(row)
            sys.stdout.flush()
            print(f'{engine} {model}: {time.monotonic() - begun:.0f} s', file=sys.stderr)


if __name__ == '__main__':
    main()

#!/usr/bin/env python3
"""Searches by measured times at as many measurements, as CSV.

    bench/measured_search.py SITU DATA [MODEL...] [--engine NAME] [--measurements N] [--search-limit S] > bench/measured_search.csv

On two unlike devices, the second slowed down by 2: hsdag learns from N distinct placements, or from as many as it can measure
within the limit; the same draws without learning (--variant learns=0) are random search over the same clusters, of as many;
auto places by a measured cost table and its best distinct plans race, for as many runs together as hsdag made at most. Each
ends with a race against the best single device, whose time stands beside the winner's.
"""
import argparse
import csv
import json
import sys
import tempfile
from pathlib import Path

from measured import SLOWER, UNLIKE, call, unlike_table

COLUMNS = ['model', 'search', 'best ms', 'best single device ms', 'faster %', 'placements', 'runs', 'note']
MAP = ['--map', f'cpu1=1/{SLOWER}']
MOST_PLANS = 16


def by_learning(args, folder, model, placements, *variant):
    told = call(args, 'learn', 'hsdag', model, '--platform', folder / 'platform.json', '--engine', args.engine, *MAP, '--measurements',
                placements, '--time-limit', args.search_limit, '--trials-log', folder / 'trials.json', '-o', folder / 'h.policy', '--json', *variant)
    log = json.loads((folder / 'trials.json').read_text())
    runs = sum(len(trial['times_ns']) for trial in log['trials']) + sum(map(len, log['final_ns']))
    return told['best_ns'], told['single_ns'], told['measured'], runs


def by_race(args, folder, model, runs):
    call(args, 'profile', model, '--engine', args.engine, '-o', folder / 'one.json')
    (folder / 'unlike.json').write_text(json.dumps(unlike_table(json.loads((folder / 'one.json').read_text()))))
    call(args, 'place', model, '--platform', folder / 'platform.json', '--cost-table', folder / 'unlike.json', '--min-gain', 0, '--measure-on',
         args.engine, '--measure', MOST_PLANS, '--rounds', max(30, runs // MOST_PLANS), '--race-log', folder / 'race.json', *MAP)
    race = json.loads((folder / 'race.json').read_text())
    best = race['plans'][race['winner']]['median_ns']
    single = [plan['median_ns'] for plan in race['plans'] if plan['name'] == 'best single device']  # none: the answer is one device
    return best, (single or [best])[0], len(race['plans']), sum(len(plan['times_ns']) for plan in race['plans'])


def rows_of(args, folder, name):
    model, runs, placements = args.data / f'{name}.onnx', args.measurements, args.measurements
    (folder / 'platform.json').write_text(json.dumps(UNLIKE))
    for search in ('hsdag', 'random', 'auto'):
        try:
            found = by_race(args, folder, model, runs) if search == 'auto' else \
                by_learning(args, folder, model, placements, *(['--variant', 'learns=0'] if search == 'random' else []))
        except (RuntimeError, KeyError, OSError) as error:
            yield dict.fromkeys(COLUMNS, '') | {'model': name, 'search': search, 'note': str(error)}
            continue
        best, single, n, made = found
        if search == 'hsdag':
            runs, placements = made, n
        yield {'model': name, 'search': search, 'best ms': f'{best / 1e6:.3f}', 'best single device ms': f'{single / 1e6:.3f}',
               'faster %': f'{100 * (single / best - 1):.1f}', 'placements': n, 'runs': made, 'note': ''}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('situ')
    parser.add_argument('data', type=Path)
    parser.add_argument('models', nargs='*', default=['light_squeezenet', 'light_inception_v2'])
    parser.add_argument('--engine', default='onnxruntime')
    parser.add_argument('--measurements', type=int, default=500)
    parser.add_argument('--search-limit', type=float, default=90, help='seconds of one search for new placements')
    parser.add_argument('--time-limit', type=float, default=240, help='seconds for one call of situ, which fails after it')
    args = parser.parse_args()
    out = csv.DictWriter(sys.stdout, COLUMNS, lineterminator='\n')
    out.writeheader()
    for name in args.models:
        with tempfile.TemporaryDirectory() as folder:
            for row in rows_of(args, Path(folder), name):
                out.writerow(row)
                sys.stdout.flush()


if __name__ == '__main__':
    main()

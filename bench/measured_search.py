#!/usr/bin/env python3
"""Searches by measured times at as many measurements, as CSV.

    bench/measured_search.py SITU DATA [MODEL...] [--engine NAME] [--measurements N] [--search-limit S] [--rounds N]
                             [--under WORDS] [--keep FOLDER] > bench/measured_search.csv

On two unlike devices, the second slowed down by 2: hsdag learns from N distinct placements, or from as many as it can measure
within the limit; the same draws without learning (--variant learns=0) are random search over the same clusters, of as many;
auto places by a measured cost table and its best distinct plans race, for as many runs together as hsdag made at most. Each
ends with a race against the best single device, whose time stands beside the winner's. Then the winners and the best single
device run in turn, round after round, so that all see the same machine: this is what counts. Each search is repeated from
its log, which has to give the same files. WORDS go before each call that measures ('chrt -r 1'). A search that FOLDER has
already is not made again.
"""
import argparse
import csv
import json
import os
import shlex
import sys
import tempfile
from pathlib import Path
from statistics import median

from measured import SLOWER, UNLIKE, call, quartile_distance, unlike_table

COLUMNS = ['model', 'search', 'placements', 'runs', 'searched best ms', 'beside single ms', 'in turn ms', 'spread ms', 'single in turn ms',
           'faster %', '+- %', 'parts', 'replayed', 'note']
MAP = ['--map', f'cpu1=1/{SLOWER}']
SEARCHES = {'hsdag': [], 'random': ['--variant', 'learns=0']}
MAX_PLANS = 16


def measuring(args, *words):
    """A call that measures: what it needs to be let alone goes before it."""
    return call(argparse.Namespace(situ=args.under[0], time_limit=args.time_limit), *args.under[1:], args.situ, *words) \
        if args.under else call(args, *words)


def same_files(pairs):
    return 'yes' if all(one.read_bytes() == other.read_bytes() for one, other in pairs) else 'no'


def by_learning(args, folder, model, placements, name):
    log, again = folder / f'{name}.trials.json', folder / 'again.json'
    words = ['learn', 'hsdag', model, '--platform', folder / 'platform.json', *MAP, '--measurements', placements, '--json', *SEARCHES[name]]
    output = measuring(args, *words, '--engine', args.engine, '--time-limit', args.search_limit, '--trials-log', log, '--plan',
                     folder / f'{name}.plan', '-o', folder / f'{name}.policy')
    made = json.loads(log.read_text())
    runs = sum(len(trial['times_ns']) for trial in made['trials']) + sum(map(len, made['final_ns']))
    try:
        call(args, *words, '--trials-from', log, '--trials-log', again, '--plan', folder / 'again.plan', '-o', folder / 'again.policy')
        replayed = same_files([(log, again), (folder / f'{name}.policy', folder / 'again.policy'), (folder / f'{name}.plan', folder / 'again.plan')])
    except RuntimeError as error:  # what a limit of time ended does not end there again
        replayed = str(error)
    return output['best_ns'], output['single_ns'], output['measured'], runs, replayed


def by_race(args, folder, model, runs):
    measuring(args, 'profile', model, '--engine', args.engine, '-o', folder / 'one.json')
    (folder / 'unlike.json').write_text(json.dumps(unlike_table(json.loads((folder / 'one.json').read_text()))))
    words = ['place', model, '--platform', folder / 'platform.json', '--cost-table', folder / 'unlike.json', '--steps', 20000, '--min-gain', 0,
             '--measure', MAX_PLANS, *MAP]
    log = folder / 'race.json'
    measuring(args, *words, '--measure-on', args.engine, '--rounds', max(30, runs // MAX_PLANS), '--race-log', log, '-o', folder / 'auto.plan')
    call(args, *words, '--race-from', log, '--race-log', folder / 'again.json', '-o', folder / 'again.plan')
    race = json.loads(log.read_text())
    best = race['plans'][race['winner']]['median_ns']
    single = [plan['median_ns'] for plan in race['plans'] if plan['name'] == 'best single device']  # none: the answer is one device
    replayed = same_files([(log, folder / 'again.json'), (folder / 'auto.plan', folder / 'again.plan')])
    return best, (single or [best])[0], len(race['plans']), sum(len(plan['times_ns']) for plan in race['plans']), replayed


def in_turn(args, folder, names):
    """What the plans take, round after round: {name: [ms]}, and of how many parts they are."""
    times, parts = {name: [] for name in names}, {}
    for _ in range(args.rounds):
        for name in names:
            ran = measuring(args, 'run', folder / f'{name}.plan', '--engine', args.engine, '--items', args.items, '--json', *MAP)
            times[name].append(ran['measured_ns'] / 1e6)
            parts[name] = len(ran['stages'])
    return times, parts


def search_by(args, folder, model, search, done):
    """The row of one search, of as many placements and runs as `done` says; one that is in the folder already is taken."""
    path = folder / f'{search}.row.json'
    if path.exists():
        return json.loads(path.read_text())
    row = {'model': model.stem, 'search': search, 'note': ''}
    try:
        best, single, n, made, replayed = by_race(args, folder, model, done['runs']) if search == 'auto' else \
            by_learning(args, folder, model, done['placements'], search)
    except (RuntimeError, KeyError, OSError) as error:
        return row | {'note': str(error)}
    row |= {'searched best ms': f'{best / 1e6:.3f}', 'beside single ms': f'{single / 1e6:.3f}', 'placements': n, 'runs': made,
            'replayed': replayed}
    path.write_text(json.dumps(row))
    return row


def rows_of(args, folder, name):
    model, done, rows = args.data / f'{name}.onnx', {'runs': args.measurements, 'placements': args.measurements}, {}
    (folder / 'platform.json').write_text(json.dumps(UNLIKE))
    for search in (*SEARCHES, 'auto'):
        rows[search] = search_by(args, folder, model, search, done)
        done = rows[search] if search == 'hsdag' and not rows[search]['note'] else done
    call(args, 'place', model, '--platform', folder / 'platform.json', '--solver', 'single', '-o', folder / 'single.plan')
    times, parts = in_turn(args, folder, ['single', *(search for search, row in rows.items() if not row['note'])])
    for search, row in rows.items():
        if search in times:
            faster = [100 * (one / best - 1) for one, best in zip(times['single'], times[search])]
            row |= {'in turn ms': f'{median(times[search]):.3f}', 'spread ms': f'{quartile_distance(times[search]):.3f}',
                    'single in turn ms': f'{median(times["single"]):.3f}', 'faster %': f'{median(faster):+.1f}',
                    '+- %': f'{quartile_distance(faster):.1f}', 'parts': parts[search]}
        yield row


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('situ')
    parser.add_argument('data', type=Path)
    parser.add_argument('models', nargs='*', default=['light_squeezenet', 'ppocrv4_det'])
    parser.add_argument('--engine', default='onnxruntime')
    parser.add_argument('--measurements', type=int, default=500)
    parser.add_argument('--search-limit', type=float, default=200, help='seconds of one search for new placements')
    parser.add_argument('--time-limit', type=float, default=600, help='seconds for one call of situ, which fails after it')
    parser.add_argument('--rounds', type=int, default=9, help='in which the winners run in turn')
    parser.add_argument('--items', type=int, default=20, help='inputs that each runs in a round')
    parser.add_argument('--under', type=shlex.split, default=[], help='what goes before each call that measures')
    parser.add_argument('--keep', type=Path, help='folder for plans, logs and policies')
    args = parser.parse_args()
    args.situ = os.path.abspath(args.situ)
    out = csv.DictWriter(sys.stdout, COLUMNS, restval='', lineterminator='\n')
    out.writeheader()
    for name in args.models:
        with tempfile.TemporaryDirectory() as folder:
            place = args.keep / name if args.keep else Path(folder)
            place.mkdir(parents=True, exist_ok=True)
            for row in rows_of(args, place, name):
                out.writerow(row)
            sys.stdout.flush()


if __name__ == '__main__':
    main()

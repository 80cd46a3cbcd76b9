#!/usr/bin/env python3
"""How long models take on this machine by the roofline alone, and by real engines, as CSV.

    bench/roofline.py SITU DATA [MODEL...] [--engine NAME]... [--rounds N] [--items N] [--under COMMAND] > bench/roofline.csv

DATA is a folder of ONNX files. Each model is placed on this-host with estimated costs, and run by `situ run` with the
cores that these assume, round after round; the measured time is the median of the rounds.
"""
import argparse
import csv
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median

MODELS = ['light_squeezenet', 'light_inception_v2', 'light_resnet50', 'light_densenet121', 'light_vgg19', 'light_bvlc_alexnet',
          'ppocrv4_det', 'fns_candy', 'TFBertForQuestionAnswering', 'gpt2_past']
ENGINES = ['onnxruntime', 'openvino']
COLUMNS = ['engine', 'model', 'threads', 'predicted ms', 'measured ms', 'off %', 'note']


def call(words):
    done = subprocess.run(words, capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(done.stderr.strip().splitlines()[-1] if done.stderr.strip() else f'exit code {done.returncode}')
    return json.loads('{' + ('\n' + done.stdout).rsplit('\n{\n', 1)[1])


def measure(args, engine, model, plan):
    placed = call([args.situ, 'place', model, '--platform', 'this-host', '--cost-engine', engine, '--solver', 'single', '-o',
                   plan, '--json'])
    runs = [call([*args.under.split(), args.situ, 'run', plan, '--engine', engine, '--items', str(args.items), '--json'])
            for _ in range(args.rounds)]
    measured_ms = median(run['measured_ns'] for run in runs) / 1e6
    predicted_ms = placed['value_ns'] / 1e6
    return {'threads': runs[0]['threads'], 'predicted ms': f'{predicted_ms:.3f}', 'measured ms': f'{measured_ms:.3f}',
            'off %': f'{100 * (predicted_ms / measured_ms - 1):+.1f}'}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('situ')
    parser.add_argument('data', type=Path)
    parser.add_argument('models', nargs='*', default=MODELS)
    parser.add_argument('--engine', action='append')
    parser.add_argument('--rounds', type=int, default=3)
    parser.add_argument('--items', type=int, default=10)
    parser.add_argument('--under', default='', help="a command before situ run, such as 'chrt -r 1'")
    args = parser.parse_intermixed_args()
    rows = csv.DictWriter(sys.stdout, COLUMNS, lineterminator='\n')
    rows.writeheader()
    with tempfile.TemporaryDirectory() as folder:
        for engine in args.engine or ENGINES:
            for model in args.models:
                row = {'engine': engine, 'model': model}
                try:
                    row |= measure(args, engine, str(args.data / f'{model}.onnx'), f'{folder}/plan.json')
                except (RuntimeError, KeyError) as failure:
                    row['note'] = str(failure)
                rows.writerow(row)
                sys.stdout.flush()


if __name__ == '__main__':
    main()

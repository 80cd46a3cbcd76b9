#!/usr/bin/env python3
"""situations.py [SITU] [--time-limit S]: the default plan in 35 situations, a CSV row each.

Five networks and three language models, these in prefill and in decoding, on machines from a laptop to four servers, and
language models decoding on two unlike GPUs, one that fits either and one that fits neither. For each: hand-overs, parts,
value, the best single device, the best plan found, how sure the plan is to be better, and what runs where.
"""
import argparse
import csv
import json
import subprocess
import sys
import tempfile
from pathlib import Path

PLATFORMS = {
    'laptop': 'ryzen-7840hs+radeon780m',
    'desktop': 'i9-12900k+flex170-16g',
    'two unlike GPUs': 'cpu+v100-16g+p100-16g',
    'two GPUs': 'cpu+2*l4-24g',
    'server': 'cpu+4*a100-80g',
    'four servers': '4*(cpu+2*l4-24g)',
}
NETWORKS = ['resnet50', 'mobilenet-v2', 'inception-v3', 'bert-base', 'vgg16']
LANGUAGE = {'gpt2': ('gpt2', 'gpt2?seq=1'),
            'llama': ('llama?tokens=512', 'llama?tokens=1&context=512'),
            'moe': ('moe?tokens=512', 'moe?tokens=1&context=512')}

LLAMA_13B = 'llama?layers=40&hidden=5120&heads=40&kv_heads=40&ffn=13824&tokens=1&context=512'


def situations():
    for k, network in enumerate(NETWORKS):
        for name in list(PLATFORMS)[k % 2::2]:
            yield network, name, f'builtin:{network}'
    for k, (model, (prefill, decode)) in enumerate(LANGUAGE.items()):
        for name in list(PLATFORMS)[(k + 1) % 2::2]:
            yield f'{model}, prefill', name, f'builtin:{prefill}'
        for name in list(PLATFORMS)[k % 2::2]:
            yield f'{model}, decode', name, f'builtin:{decode}'
    yield 'llama, decode', 'two unlike GPUs', f'builtin:{LANGUAGE["llama"][1]}'
    yield 'llama 13B, decode', 'two unlike GPUs', f'builtin:{LLAMA_13B}'


COLUMNS = ['model', 'machine', 'hand-overs', 'parts', 'value ms', 'single ms', 'best found ms (hand-overs)', 'beats single',
           'what runs where']


def what_runs_where(plan):
    """The parts in the words of the plan, the last ones counted only."""
    words = [f"{p['device']}: {p['name']}" for p in plan['parts']]
    return '; '.join(words[:4]) + (f'; {len(words) - 4} more' if len(words) > 4 else '')


def row_of(situ, time_limit, machine, model):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / 'plan.json'
        called = subprocess.run([situ, 'place', model, '--platform', PLATFORMS[machine], '--time-limit', time_limit,
                                 '--json', '-o', path], capture_output=True, text=True)
        output = json.loads(called.stdout) if called.stdout else {}
        if not output.get('parts'):
            return ['', '', 'no plan', '', '', '', output.get('reason') or called.stderr.strip()]
        sure = json.loads(path.read_text()).get('robustness', {}).get('beats_single')
    single, best = output['best_single_ns'], output['best_found_ns']
    found = f"{best / 1e6:.4g} ({output['best_found_handovers']})" if best != output['value_ns'] else 'the same'
    return [output['n_handovers'], output['n_parts'], f"{output['value_ns'] / 1e6:.4g}", f'{single / 1e6:.4g}' if single else 'none',
            found, '' if sure is None else f'{100 * sure:.0f} %', what_runs_where(output)]


def main():
    ask = argparse.ArgumentParser(description=__doc__)
    ask.add_argument('situ', nargs='?', default='build/situ')
    ask.add_argument('--time-limit', default='5')
    asked = ask.parse_args()
    rows = csv.writer(sys.stdout, lineterminator='\n')
    rows.writerow(COLUMNS)
    for what, machine, model in situations():
        rows.writerow([what, machine, *row_of(asked.situ, asked.time_limit, machine, model)])
        sys.stdout.flush()


if __name__ == '__main__':
    main()

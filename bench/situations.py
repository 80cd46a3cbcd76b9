#!/usr/bin/env python3
"""situations.py [SITU] [--time-limit S] [--json FILE]: the default plan in 33 situations, one row each.

Five networks and three language models, these in prefill and in decoding, on machines from a laptop to four servers.
For each: hand-overs, parts, value, the best single device, the best plan found, and how sure the plan is to be better.
"""
import argparse
import json
import subprocess
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


def situations():
    for k, network in enumerate(NETWORKS):
        for name in list(PLATFORMS)[k % 2::2]:
            yield network, name, f'builtin:{network}'
    for k, (model, (prefill, decode)) in enumerate(LANGUAGE.items()):
        for name in list(PLATFORMS)[(k + 1) % 2::2]:
            yield f'{model}, prefill', name, f'builtin:{prefill}'
        for name in list(PLATFORMS)[k % 2::2]:
            yield f'{model}, decode', name, f'builtin:{decode}'


def handovers_and_parts(plan, situ, path):
    """From the plan's own words, where the tool has them; else by counting devices that are used."""
    called = subprocess.run([situ, 'explain', path, '--no-what-if', '--json'], capture_output=True, text=True)
    if called.returncode == 0:
        told = json.loads(called.stdout)
        return told.get('n_handovers'), told.get('n_parts')
    pairs = {(row[0], row[1], row[3]) for row in plan.get('transfers', [])}
    return len(pairs), len({row[1] for row in plan.get('operators', [])})


def main():
    ask = argparse.ArgumentParser(description=__doc__)
    ask.add_argument('situ', nargs='?', default='build/situ')
    ask.add_argument('--time-limit', default='5')
    ask.add_argument('--json')
    asked = ask.parse_args()
    rows = []
    print('| model | machine | hand-overs | parts | value ms | single ms | best found ms (hand-overs) | beats single |')
    print('|-|-|-|-|-|-|-|-|')
    for what, machine, model in situations():
        with tempfile.TemporaryDirectory() as folder:
            path = str(Path(folder) / 'plan.json')
            called = subprocess.run([asked.situ, 'place', model, '--platform', PLATFORMS[machine], '--time-limit',
                                     asked.time_limit, '-o', path], capture_output=True, text=True)
            if called.returncode != 0:
                print(f'| {what} | {machine} | exit {called.returncode} | | | | | |', flush=True)
                continue
            plan = json.loads(Path(path).read_text())
            n, parts = handovers_and_parts(plan, asked.situ, path)
        single, best = plan.get('best_single'), plan.get('best_found') or {}
        sure = plan.get('robustness', {}).get('beats_single')
        row = {'model': what, 'machine': machine, 'handovers': n, 'parts': parts, 'value_ns': plan['value_ns'],
               'single_ns': single and single['value_ns'], 'best_found_ns': best.get('value_ns'),
               'best_found_handovers': best.get('handovers'), 'beats_single': sure}
        rows.append(row)
        found = f"{best['value_ns'] / 1e6:.4g} ({best['handovers']})" if best else 'the same'
        print(f"| {what} | {machine} | {n} | {parts} | {plan['value_ns'] / 1e6:.4g} | "
              f"{single['value_ns'] / 1e6:.4g} |" if single else
              f"| {what} | {machine} | {n} | {parts} | {plan['value_ns'] / 1e6:.4g} | none |",
              f'{found} | {"" if sure is None else f"{100 * sure:.0f} %"} |', flush=True)
    if asked.json:
        Path(asked.json).write_text(json.dumps(rows, indent=1))


if __name__ == '__main__':
    main()

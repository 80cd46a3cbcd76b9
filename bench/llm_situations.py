#!/usr/bin/env python3
"""llm_situations.py [SITU] [--steps N]: six language models on eight machines, a CSV row each.

The plan of situ beside those of the rules of llama.cpp, accelerate, vLLM and exo: tokens per second in decoding behind
4096 tokens, predicted by the same costs, the proved bound and the gap to it. The search is counted in steps, so the table
does not depend on how busy the machine is. Exits 1 where a rule is better than situ."""
import argparse
import csv
import json
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from llm_files import MODELS as FILES, write

MACHINES = {
    '24 + 12 GB': 'ryzen-9950x+rtx4090-24g+rtx3060-12g',
    '24 + 8 GB, CPU': 'i9-13900k+rtx3090-24g+rtx3060ti-8g',
    'four unlike GPUs': 'threadripper-7980x+rtx4090-24g+rtx3090-24g+rtx4060ti-16g+rtx3060-12g',
    'two servers, Ethernet': '2*(ryzen-9950x+2*rtx3090-24g)@ethernet-10g',
    'CPU and a small GPU': 'threadripper-7980x+rtx4060-8g',
    'laptop, integrated GPU': 'ryzen-7840hs+radeon780m',
    '2 x 24 GB, NVLink': 'ryzen-9950x+2*rtx3090-24g@nvlink',
    '80 + 24 GB': 'epyc7763+a100-80g-pcie+rtx4090-24g',
}
MODELS = {'Llama 3 8B, Q4_K_M': 'llama-3-8b-q4_k_m', 'Llama 2 13B, Q8_0': 'llama-2-13b-q8_0',
          'Llama 3 70B, Q4_K_M': 'llama-3-70b-q4_k_m', 'Mixtral 8x7B, Q4_K_M': 'mixtral-8x7b-q4_k_m',
          'gpt-oss 120B, MXFP4': 'gpt-oss-120b-mxfp4', 'hybrid 35B-A3B, Q4_K_M': 'hybrid-35b-a3b-q4_k_m'}
PEERS = ['llamacpp_default', 'llamacpp_fit', 'accelerate_auto', 'vllm_equal', 'exo_ring']
COLUMNS = ['machine', 'model', 'ours', 'bound', 'gap', *PEERS, 'single device', 'ours to best rule']


def tokens(row):
    return f'{row["tokens_per_second"]:.4g}' if row and row.get('value_ns') else '-'


def verdict(ours, best):
    if not best:
        return 'no rule has a plan' if ours else 'no plan fits'
    ratio = best / ours
    return 'equal' if abs(ratio - 1) < 5e-5 else f'{100 * (ratio - 1):+.1f} %'


def row_of(situ, path, platform, steps):
    """The row, and whether a rule is better."""
    called = subprocess.run([situ, 'compare', path, '--platform', platform, '--granularity', 'layer', '--steps', steps,
                             '--solver', ','.join(['auto', 'single', *PEERS]), '--json'], capture_output=True, text=True)
    output = json.loads(called.stdout)
    rows = {r['solver']: r for r in output['rows']}
    value = {name: r.get('value_ns') for name, r in rows.items()}
    bound = max(r.get('lower_bound_ns') or 0 for r in rows.values())
    ours, best = value['auto'], min((value[p] for p in PEERS if value[p]), default=None)
    cells = [tokens(rows['auto'])]
    cells += [f'{1e9 / bound:.4g}', f'{100 * (1 - bound / ours):.1f} %'] if ours else ['-', '-']
    return [*cells, *(tokens(rows[p]) for p in PEERS), tokens(rows['single']), verdict(ours, best)], bool(best and (not ours or best < ours))


def main():
    ask = argparse.ArgumentParser(description=__doc__)
    ask.add_argument('situ', nargs='?', default='build/situ')
    ask.add_argument('--steps', default='20000')
    asked = ask.parse_args()
    rows, worse = csv.writer(sys.stdout, lineterminator='\n'), False
    rows.writerow(COLUMNS)
    with tempfile.TemporaryDirectory() as folder:
        for machine, platform in MACHINES.items():
            for model, name in MODELS.items():
                path = Path(folder) / f'{name}.gguf'
                if not path.exists():
                    write(path, *FILES[name])
                cells, lost = row_of(asked.situ, path, platform, asked.steps)
                worse |= lost
                rows.writerow([machine, model, *cells])
                sys.stdout.flush()
    return 1 if worse else 0


if __name__ == '__main__':
    sys.exit(main())

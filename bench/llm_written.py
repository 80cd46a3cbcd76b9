#!/usr/bin/env python3
"""llm_written.py [SITU] [--steps N]: what it costs that an engine can run the plan, a CSV row for each situation.

Tokens per second in decoding behind 4096 tokens of the plans that `situ place` finds without --write, and with it for four
formats; "-" where no plan of the form was found. The search is counted in steps. Models that one GPU holds on most
machines, whose plans all formats hold, are left out."""
import argparse
import csv
import json
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from llm_files import MODELS as FILES, write
from llm_situations import MACHINES, MODELS

MORE = {'plain CPU, 24 GB': 'cpu+rtx4090', 'plain CPU, 2 x 24 GB': 'cpu+2*rtx3090',
        'plain CPU, 24 + 12 GB': 'cpu+rtx4090+rtx3060'}
LARGE = ['Llama 3 70B, Q4_K_M', 'Mixtral 8x7B, Q4_K_M', 'gpt-oss 120B, MXFP4']
WRITERS = ['llama.cpp', 'vllm', 'exo', 'device-map']


def tokens(situ, path, platform, steps, writer, folder):
    """Tokens per second, and their bound; None where there is no plan or it could not be written."""
    asked = ['--write', f'{writer}={folder}/written'] if writer else []
    called = subprocess.run([situ, 'place', path, '--platform', platform, '--steps', steps, '--json', *asked],
                            capture_output=True, text=True)
    output = json.loads(called.stdout) if called.stdout else {}
    if called.returncode == 0 and output.get('value_ns'):
        return output['tokens_per_second'], 1e9 / output['lower_bound_ns']
    return None, None


def main():
    ask = argparse.ArgumentParser(description=__doc__)
    ask.add_argument('situ', nargs='?', default='build/situ')
    ask.add_argument('--steps', default='1000')
    asked = ask.parse_args()
    rows = csv.writer(sys.stdout, lineterminator='\n')
    rows.writerow(['machine', 'model', 'bound', 'any plan', *WRITERS])
    with tempfile.TemporaryDirectory() as folder:
        for machine, platform in {**MORE, **MACHINES}.items():
            for model in LARGE:
                path = Path(folder) / f'{MODELS[model]}.gguf'
                if not path.exists():
                    write(path, *FILES[MODELS[model]])
                free, bound = tokens(asked.situ, path, platform, asked.steps, None, folder)
                if not free:
                    continue
                cells = []
                for writer in WRITERS:
                    speed, _ = tokens(asked.situ, path, platform, asked.steps, writer, folder)
                    cost = round(100 * (1 - speed / free), 1) if speed else 0
                    cells.append('-' if not speed else f'{speed:.4g}' + (f' (-{cost} %)' if cost > 0 else ''))
                rows.writerow([machine, model, f'{bound:.4g}', f'{free:.4g}', *cells])
                sys.stdout.flush()


if __name__ == '__main__':
    main()

#!/usr/bin/env python3
"""Whether a placement changes what a network computes, on the three networks of HSDAG, as CSV.

    hsdag_outputs.py SITU CSV [--seeds N] [--engine-path FOLDER]

Inception-V3 and ResNet-50 of timm and BERT (8 tokens) of transformers, with random weights, are exported to ONNX; python3 needs torch,
timm, transformers and onnx. A placement is drawn: ten stretches of operators, in turn on either device of share/platforms/hsdag.json. `situ
run` cuts the model by it, runs the parts by each engine that is found, and compares their outputs with those of the whole. Both devices are
the processor here: a GPU rounds otherwise, wherever it runs. Runs what the CSV does not hold yet and appends it there.
"""
import argparse
import csv
import json
import pathlib
import random
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
ENGINES = ["onnxruntime", "openvino"]
STRETCHES = 10
FIELDS = ["model", "engine", "seed", "operators", "parts", "hand-overs", "relative difference"]


def vision(name, side):
    def make():
        import timm
        import torch
        return timm.create_model(name, pretrained=False), torch.zeros(1, 3, side, side)

    return make


def bert():
    import torch
    import transformers

    class Hidden(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.bert = transformers.BertModel(transformers.BertConfig(attn_implementation="eager"))

        def forward(self, tokens):
            return self.bert(input_ids=tokens).last_hidden_state

    return Hidden(), torch.arange(8).view(1, 8)


MODELS = {"inception-v3": vision("inception_v3", 299), "resnet50": vision("resnet50", 224), "bert-base?seq=8": bert}


def export(make, path):
    import torch
    torch.manual_seed(0)
    network, example = make()
    torch.onnx.export(network.eval(), (example,), str(path), dynamo=False, input_names=["x"], output_names=["y"])


def answer(*command):
    done = subprocess.run([*map(str, command), "--json"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True)
    return json.loads(done.stdout)


def measure(args, path, engine, seed, folder):
    place = [args.situ, "place", path, "--platform", ROOT / "share/platforms/hsdag.json", "--fusion", "none", "--solver"]
    answer(*place, "single", "-o", folder / "one.json")
    names = [row[0] for row in json.loads((folder / "one.json").read_text())["operators"]]
    draws = random.Random(seed)
    cuts = sorted(draws.sample(range(1, len(names)), STRETCHES - 1))
    fixed = {name: ["cpu", "gpu1"][(seed + sum(cut <= v for cut in cuts)) % 2] for v, name in enumerate(names)}
    (folder / "fix.json").write_text(json.dumps(fixed))
    answer(*place, "single", "--fix", folder / "fix.json", "-o", folder / "plan.json")
    run = [args.situ, "run", folder / "plan.json", "--engine", engine, "--engine-path", args.engine_path]
    found = answer(*run, "--items", 3, "--warm-up", 1)
    parts, moved = (found[key] if isinstance(found[key], int) else len(found[key]) for key in ("stages", "transfers"))
    return [engine, seed, len(names), parts, moved, found["max_relative_error"]]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("situ")
    parser.add_argument("csv", type=pathlib.Path)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--engine-path", type=pathlib.Path, default=ROOT / "build/engines")
    args = parser.parse_args()
    begun = args.csv.exists()
    done = {(r["model"], r["engine"], int(r["seed"])) for r in csv.DictReader(args.csv.open())} if begun else set()
    with args.csv.open("a", newline="") as out, tempfile.TemporaryDirectory() as folder:
        writer = csv.writer(out, lineterminator="\n")
        if not begun:
            writer.writerow(FIELDS)
        for model, make in MODELS.items():
            path = pathlib.Path(folder) / "model.onnx"
            wanted = [(engine, seed) for engine in ENGINES for seed in range(args.seeds) if (model, engine, seed) not in done]
            if wanted:
                export(make, path)
            for engine, seed in wanted:
                writer.writerow([model, *measure(args, path, engine, seed, pathlib.Path(folder))])
                out.flush()


if __name__ == "__main__":
    main()

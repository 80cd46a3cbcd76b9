#!/usr/bin/env python3
"""Plans that are cut and run, models that are profiled: by ONNX Runtime where it is installed.

    test_engines.py SITU [NAME...]
"""
import json
import os
import pathlib
import subprocess
import sys

from test_cli import QUICK, SHARED, SITU, SMALL, Skip, main, need, rounds_of, situ, situ_json

OWN = SITU.parent / "engines"  # what tools/setup.sh engines installs
if OWN.is_dir() and "SITU_ONNXRUNTIME" not in os.environ:
    os.environ["SITU_ONNXRUNTIME"] = str(OWN)


def test_parts_of_a_model_are_a_folder_with_a_manifest():
    """Three operators of mnist on a device of their own: the parts before, of and after them."""
    path = need("data/onnx/mnist.onnx")
    apart = ["Convolution28", "Plus30", "ReLU32"]
    pathlib.Path("pins.json").write_text(json.dumps({name: "cpu1" for name in apart}))
    situ("place", path, *QUICK, "--platform", "2*cpu", "--fix", "pins.json", "--write", "onnx-parts=parts")
    manifest = json.loads(pathlib.Path("parts/manifest.json").read_text())
    assert [part["file"] for part in manifest["parts"]] == [f"part{k}.onnx" for k in range(len(manifest["parts"]))]
    for k, part in enumerate(manifest["parts"]):
        assert pathlib.Path("parts", part["file"]).stat().st_size > 100
        assert all(value["from"] is None or value["from"] < k for value in part["inputs"])
    refused = subprocess.run([SITU, "place", SMALL, *QUICK, "--write", "onnx-parts=none"], capture_output=True, text=True)
    assert refused.returncode == 6 and "is no ONNX model" in refused.stderr, refused
    assert not pathlib.Path("none").exists()


if __name__ == "__main__":
    sys.exit(main(globals()))

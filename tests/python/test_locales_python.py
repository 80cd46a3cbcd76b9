"""Plans, reports, files and simulations are the same under every locale that the program sets (tests/export/test_locales.c is
the same for C). tools/locales.sh makes the locales in build/locales."""
import json
import locale
import os
import pathlib
import re

import pytest

import situ

FOLDER = pathlib.Path(__file__).resolve().parents[2] / "build/locales"
NAMES = ("de_DE.UTF-8", "tr_TR.UTF-8")
MODEL = "builtin:layered?operators=16&width=3"


def without_seconds(of):
    """The seconds of a search are those of the clock."""
    if isinstance(of, dict):
        return {key: without_seconds(value) for key, value in of.items() if key != "seconds"}
    return [without_seconds(value) for value in of] if isinstance(of, list) else of


def outputs(folder):
    machine = situ.Platform("box")
    machine.add_device("cpu", base="CPU")
    machine.add_device("npu", memory_gb=7.5, memory_gb_per_s=60.25, peak_tflops={"f32": 1.5}, class_name="npu")
    machine.add_link("cpu", "npu", latency_us=1.5, gb_per_s=12.8)
    found = [machine.to_json()]
    for platform, costs in (("CPU+2*MI300X", None), (machine, lambda operator, device: 1234.5 + len(operator.name))):
        plan = situ.place(MODEL, platform, costs=costs, solver="heft,tabu", steps=300, seed=3, uncertainty=0.2)
        name = folder / "plan.json"
        files = [pathlib.Path(path) for path in plan.save(name)]
        found += [path.read_text() for path in files if path.name != "plan.json"] + [plan.to_text(), plan.svg()]
        again = situ.load_plan(name)
        found += [again.replay().to_text(), json.dumps(again.check().valid), json.dumps(without_seconds(plan.to_dict()))]
        for writer in ("csv", "dot", "trace"):
            plan.write(writer, folder / "out")
            found.append((folder / "out").read_text())
        found.append(json.dumps(without_seconds(situ.costs(MODEL, platform, costs=costs))))
        found.append(json.dumps(without_seconds(dict(situ.inspect(MODEL, platform)))))
    found.append(json.dumps(situ.list_devices()))
    with pytest.raises(situ.SituError) as error:
        situ.place("no-such.onnx", MODEL)
    return [re.sub(r"/situ-\w+/", "/situ/", text) for text in [*found, str(error.value)]]  # temporary folders


@pytest.mark.skipif(not FOLDER.is_dir(), reason="no locales: tools/locales.sh makes them in build/locales")
def test_outputs_are_those_of_the_c_locale(tmp_path, monkeypatch):
    monkeypatch.setitem(os.environ, "LOCPATH", str(FOLDER))
    before = locale.setlocale(locale.LC_ALL)
    try:
        locale.setlocale(locale.LC_ALL, "C")
        expected = outputs(tmp_path)
        for name in NAMES:
            locale.setlocale(locale.LC_ALL, name)
            assert locale.localeconv()["decimal_point"] == ","
            for was, now in zip(expected, outputs(tmp_path), strict=True):
                assert now == was, name
    finally:
        locale.setlocale(locale.LC_ALL, before)

"""What Python gets equals what the command line prints: built-in networks with options, and every case of tests/golden."""
import json
import os
import pathlib
import shlex
import shutil
import subprocess
import warnings

import pytest

import situ
from situ import _options

ROOT = pathlib.Path(__file__).resolve().parents[2]
TOOL = os.environ.get("SITU_TOOL", "")
pytestmark = pytest.mark.skipif(not os.access(TOOL, os.X_OK), reason="SITU_TOOL names no tool")
FLAGS = {name for name, (_, _, convert) in _options.TABLE.items() if convert is _options._truth} | {"contiguous"}


def keywords(words):
    """Options of the command line as keyword arguments; None where Python has none of that name."""
    found, words = {}, list(words)
    while words:
        name, _, value = words.pop(0).removeprefix("--").partition("=")
        name = name.replace("-", "_")
        if name in FLAGS:
            found[name] = True
            continue
        value = value or words.pop(0)
        if name == "dim":
            found.setdefault("dim", {})[value.partition("=")[0]] = int(value.partition("=")[2])
        elif name == "unused":
            found.setdefault("unused", []).append(value)
        elif name in ("platform", "costs", "fix", "start", "solver", "cost_table", "policy", "reader"):
            found[name] = value
        elif name in _options.TABLE:
            found[name] = next((kind(value) for kind in (int, float, str) if reads(kind, value)))
        else:
            return None
    return found


def reads(kind, value):
    try:
        kind(value)
    except ValueError:
        return False
    return True


def tool(*words, folder):
    return subprocess.run([TOOL, *words, "--json"], cwd=folder, capture_output=True, text=True, check=False, timeout=120)


def without_clock(report):
    return {key: value for key, value in report.items() if key != "seconds"}


def compare(model, words, folder, monkeypatch):
    """Runs both; True unless the command line refuses the words themselves."""
    given = keywords(words)
    if given is None:
        return False
    theirs = tool("place", model, *words, folder=folder)
    if theirs.returncode == 2:
        return False
    monkeypatch.chdir(folder)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", situ.SituWarning)
        try:
            ours = situ.place(model, **given)
        except situ.SituError as failure:
            assert theirs.returncode in (3, 70) and theirs.stderr.strip().splitlines()[-1] == f"situ: {failure}"
            return True
    assert theirs.returncode in (0, 4, 5), theirs.stderr
    assert without_clock(ours.to_dict()) == without_clock(json.loads(theirs.stdout))
    if ours:
        assert ours.placement == json.loads(theirs.stdout)["placement"]
    return True


@pytest.mark.parametrize("model, words", [
    ("builtin:resnet50", "--platform cpu+2*v100-16g --steps 100"),
    ("builtin:resnet50?batch=8", "--platform cpu+2*v100-16g --steps 100 --objective throughput --replicate --in-flight 2"),
    ("builtin:inception-v3", "--platform cpu+v100-16g+p100-16g --steps 300 --seed 7 --solver heft,tabu --granularity operator"),
    ("builtin:bert-base", "--platform cpu+2*a100-80g --steps 100 --precision f16 --tolerance 10 --min-gain 0"),
    ("builtin:resnet50", "--platform 2*l4-24g --steps 100 --max-period 3 --cost-engine tensorrt --efficiency 0.4"),
    ("builtin:vgg", "--platform cpu+v100-16g --steps 50 --unused gpu0 --training"),
])
def test_a_plan_is_that_of_the_command_line(model, words, tmp_path, monkeypatch):
    assert compare(model, shlex.split(words), tmp_path, monkeypatch)


def golden_calls():
    for session in sorted((ROOT / "tests/golden").glob("*/session")):
        for number, line in enumerate(session.read_text().splitlines()):
            if line.startswith("$ situ place "):
                yield pytest.param(session.parent, line[len("$ situ place "):], id=f"{session.parent.name}-{number}")


EVERY = 1 if int(os.environ.get("SITU_TEST_SHARE", "100")) >= 100 else 6  # the rest is left to make check


@pytest.mark.parametrize("case, call", list(golden_calls())[::EVERY])
def test_a_golden_case_ends_as_on_the_command_line(case, call, tmp_path, monkeypatch):
    folder = tmp_path / "case"
    shutil.copytree(case, folder)
    words = shlex.split(call)
    models = [w for i, w in enumerate(words) if not w.startswith("-") and (i == 0 or words[i - 1] in FLAGS or i == 0)]
    if len(models) != 1 or words[0] != models[0]:
        pytest.skip("the model is not the first word")
    if not {"--steps", "--time-limit"} & set(words):
        words += ["--steps", "50"]
    if not compare(words[0], words[1:], folder, monkeypatch):
        pytest.skip("the command line refuses the words, or has options of its own")


def test_inspect_compare_and_lists_are_those_of_the_command_line(tmp_path):
    words = ["builtin:resnet50", "--platform", "cpu+2*v100-16g"]
    theirs = json.loads(tool("inspect", *words, folder=tmp_path).stdout)
    assert situ.inspect("builtin:resnet50", "cpu+2*v100-16g") == theirs
    theirs = json.loads(tool("compare", *words, "--solver", "single,heft", "--steps", "50", folder=tmp_path).stdout)
    ours = situ.compare("builtin:resnet50", "cpu+2*v100-16g", solver=["single", "heft"], steps=50)
    for one in (ours, theirs):
        one["rows"] = [without_clock(row) for row in one["rows"]]
    assert ours == theirs
    for family in ("solvers", "bounds", "readers", "writers", "costs", "devices", "links", "models"):
        theirs = json.loads(tool("list", family, folder=tmp_path).stdout)
        assert situ.list_family(family) == (theirs[family] if isinstance(theirs, dict) else theirs)


def test_plan_files_are_those_of_the_command_line(tmp_path):
    words = ["--platform", "cpu+2*v100-16g", "--steps", "100"]
    tool("place", "builtin:resnet50", *words, "-o", "theirs.json", "--svg", "theirs.svg", folder=tmp_path)
    plan = situ.place("builtin:resnet50", "cpu+2*v100-16g", steps=100)
    plan.save(tmp_path / "ours.json")
    theirs, ours = (json.loads((tmp_path / f"{who}.json").read_text()) for who in ("theirs", "ours"))
    theirs.pop("seconds", None), ours.pop("seconds", None)
    assert ours == theirs
    assert plan.svg() == (tmp_path / "theirs.svg").read_text()
    plan.write("csv", tmp_path / "ours.csv")
    tool("place", "builtin:resnet50", *words, "--write", f"csv={tmp_path / 'theirs.csv'}", folder=tmp_path)
    if (tmp_path / "theirs.csv").exists():
        assert (tmp_path / "ours.csv").read_text() == (tmp_path / "theirs.csv").read_text()
    again = situ.load_plan(tmp_path / "theirs.json")
    assert again.placement == plan.placement and again.value_ns == plan.value_ns
    explained = json.loads(tool("explain", "theirs.json", "--no-what-if", folder=tmp_path).stdout)
    assert without_clock(again.explain()) == without_clock(explained)
    assert situ.load_plan(tmp_path / "theirs.json").check() == json.loads(tool("check", "theirs.json", folder=tmp_path).stdout)

#!/usr/bin/env python3
"""The tables of docs/results hold what their CSV files say, and bench/tables.py notices where they do not.

    test_tables.py ROOT
"""
import pathlib
import shutil
import subprocess
import sys
import tempfile

import runner

ROOT = pathlib.Path(sys.argv[1]).resolve()


def tables(*arguments, root=ROOT):
    command = [sys.executable, ROOT / "bench/tables.py", "--root", root, *arguments]
    done = subprocess.run(command, capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


def copied(folder):
    """A tree of its own with the pages and the CSV files."""
    shutil.copytree(ROOT / "docs/results", folder / "docs/results")
    shutil.copy(ROOT / "docs/papers.md", folder / "docs")
    (folder / "bench").mkdir()
    (folder / "bench/gpu_day").mkdir()
    for path in (ROOT / "bench").glob("**/*.csv"):
        shutil.copy(path, folder / path.relative_to(ROOT))
    return folder


def replace(path, old, new):
    text = path.read_text()
    assert old in text, f"{path} has no {old}"
    path.write_text(text.replace(old, new, 1))


def test_every_table_is_what_its_csv_file_says(_):
    code, output = tables("--check")
    assert code == 0, output


def test_a_changed_figure_of_a_page_is_named_and_written_anew(folder):
    page = folder / "docs/results/calls.md"
    whole = page.read_text()
    replace(page, "| 225.6479 |", "| 225.6478 |")
    code, output = tables("--check", root=folder)
    assert code == 1 and "docs/results/calls.md: table calls" in output, output
    assert tables(root=folder)[0] == 0 and page.read_text() == whole


def test_a_changed_figure_of_a_csv_file_is_noticed(folder):
    replace(folder / "bench/splitting_latency.csv", "0.2924", "0.2925")
    code, output = tables("--check", root=folder)
    assert code == 1 and "table splitting_latency" in output, output


def test_a_figure_of_the_papers_is_noticed(folder):
    """The bound of randwire-ba is in a table of results and, as a ratio, in two of the papers."""
    replace(folder / "bench/splitting_latency.csv", ",3.1256,", ",3.0256,")
    code, output = tables("--check", root=folder)
    assert code == 1 and all(f"table {t}" in output for t in ("splitting_latency", "papers_diviml", "papers_gains")), output


def test_a_table_that_no_page_shows_is_named(folder):
    replace(folder / "docs/results/calls.md", "<!-- table calls -->", "<!-- table visits -->")
    code, output = tables("--check", root=folder)
    assert code == 1 and "table calls stands on 0 pages" in output and "table visits stands on 2 pages" in output, output


def test_a_marker_without_an_end_is_named(folder):
    replace(folder / "docs/results/calls.md", "<!-- end of table -->", "")
    code, output = tables("--check", root=folder)
    assert code == 1 and "has no end" in output, output


def test_nanoseconds_of_the_ledger_are_rounded_to_milliseconds(folder):
    """32910702 ns are 32.910702 ms, 32.9107 with six digits; 30000000 ns are 30."""
    head = "instance,rules,solver,seed,steps,value_ns,bound_ns\n"
    (folder / "one.csv").write_text(head + "net,contiguous,single,0,0,32910702,30000000\n")
    code, output = tables("throughput", folder / "one.csv")
    assert code == 0 and output.splitlines()[2].startswith("| net | 30 | 32.9107 |  |"), output


def test_means_are_geometric(folder):
    """1 % and 21 % above the best: the square root of 1.01 * 1.21 is 1.1055, 10.5 % (rounded)."""
    head = ("instance,platform,solver,cpu_s,load,near_s,value_1s,bound_1s,value_10s,bound_10s,"
            "value_ns,bound_ns,best_ns\n")
    (folder / "two.csv").write_text(head + "a,,auto,1,1,1,1010,1000,1010,1000,1010,1000,1000\n"
                                    "b,,auto,1,1,1,1210,1000,1210,1000,1210,1000,1000\n")
    code, output = tables("anytime", folder / "two.csv")
    assert code == 0 and "| geometric mean |  |  |  | 10.5 | 10.5 | 10.5 |" in output, output


GROWN = """import csv, sys
with open(sys.argv[2], newline="") as file:
    rows = csv.DictReader(file)
    columns, held = rows.fieldnames, {(r["family"], r["size"]) for r in rows}
assert ("layered", "1000") not in held and ("layered", "10000") in held
with open(sys.argv[2], "a", newline="") as file:
    csv.DictWriter(file, columns, restval="1", lineterminator="\\n").writerow({"family": "layered", "size": "1000", "value_ns": "7"})
"""


def renewed(folder, program):
    """What renew.py makes of growth.csv, with another program in place of growth.py."""
    for path in (ROOT / "bench").glob("*.py"):
        shutil.copy(path, folder / "bench")
    (folder / "bench/growth.py").write_text(program)
    command = [sys.executable, folder / "bench/renew.py", "situ", "shared", "growth-layered-1000"]
    return subprocess.run(command, capture_output=True, text=True), (folder / "bench/growth.csv").read_text().splitlines()


def test_a_part_that_is_measured_anew_replaces_its_rows_alone(folder):
    before = (folder / "bench/growth.csv").read_text().splitlines()
    done, after = renewed(folder, GROWN)
    assert done.returncode == 0 and done.stdout.startswith("growth-layered-1000: 1 rows, "), done.stdout + done.stderr
    at = next(k for k, line in enumerate(before) if line.startswith("layered,1000,"))
    assert after[at].startswith("layered,1000,1,1,1,7,"), after[at]
    assert after[:at] + after[at + 1:] == [line for line in before if not line.startswith("layered,1000,")]


def test_a_measurement_that_fails_changes_nothing(folder):
    before = (folder / "bench/growth.csv").read_text().splitlines()
    done, after = renewed(folder, GROWN + "sys.exit(3)\n")
    assert done.returncode == 1 and after == before, done.stderr
    done, after = renewed(folder, "")
    assert done.returncode == 1 and "no rows were made" in done.stderr and after == before, done.stderr


def with_a_copy(test):
    with tempfile.TemporaryDirectory() as folder:
        test(copied(pathlib.Path(folder)))


if __name__ == "__main__":
    sys.exit(runner.run(globals(), with_a_copy))

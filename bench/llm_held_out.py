#!/usr/bin/env python3
"""How far predicted speeds of language models carry over to rows that nothing was fitted to.

    python3 bench/llm_held_out.py published_speeds.csv [bench/llm_published.csv]

The rates of cost/efficiency.c were fitted to some of these rows, so errors on them are in-sample. Here each group of
rows is left out in turn - a source, or a device - and predicted with a factor for its family of devices that is refitted
on all other rows: the median of published over predicted speed. If the rates owed their errors to rows of one source or
device, the factor without these rows would move the prediction away from them. Prints median error and the share within
15 and 40 % for decoding and prefill, as predicted and held out."""
import collections
import csv
import pathlib
import re
import statistics
import sys

FAMILIES = (("apple", r"\+(\d+\*)?m\d"), ("amd", r"rx\d|radeon|mi\d|r9700"), ("intel", r"a7\d0|b\d0|flex|max1"),
            ("server", r"v100|a100|h100|h200|p100"), ("workstation", r"a40|a6000|l40|rtx6000|rtx8000|rtxpro|gb10|p40"), ("geforce", r"[rg]tx\d"))


def family(platform):
    return next(name for name, pattern in (*FAMILIES, ("other", "")) if re.search(pattern, platform))


def held_out(rows, group):
    """The errors of all rows, each predicted without the rows of its group."""
    errors = []
    for row in rows:
        rest = [r["published"] / r["predicted"] for r in rows if r[group] != row[group] and r["family"] == row["family"]]
        factor = statistics.median(rest) if len(rest) >= 3 else 1.0
        errors.append(abs(row["predicted"] * factor / row["published"] - 1))
    return errors


def print_errors(name, errors):
    share = [sum(e <= limit for e in errors) / len(errors) for limit in (0.15, 0.4)]
    print(f"{name:42} {len(errors):4} rows  median {statistics.median(errors):6.1%}  within 15 %: {share[0]:4.0%}  40 %: {share[1]:4.0%}")


def main():
    published = {r["id"]: r for r in csv.DictReader(open(sys.argv[1]))}
    made = sys.argv[2] if len(sys.argv) > 2 else pathlib.Path(__file__).resolve().parent / "llm_published.csv"
    rows = []
    for r in csv.DictReader(open(made)):
        source = published[r["id"]]
        rows.append({**r, "published": float(r["published"]), "predicted": float(r["predicted"]), "family": family(r["platform"]),
                     "source": source["source"].split(";")[0], "device": re.sub(r"\d+\*", "", r["platform"]),
                     "kind": "unlike" if source["unlike_devices"] == "1" else "split" if "*" in r["platform"] else "one device"})
    for what in ("decode", "prefill"):
        of = [r for r in rows if r["what"] == what]
        print_errors(f"{what}, as predicted", [abs(r["predicted"] / r["published"] - 1) for r in of])
        print_errors(f"{what}, each source held out", held_out(of, "source"))
        print_errors(f"{what}, each device held out", held_out(of, "device"))
        by_source = collections.Counter(r["source"] for r in of)
        alone = [s for s, n in by_source.items() if n >= 5]
        print(f"{what}: {len(by_source)} sources, {len(alone)} of 5 rows or more:")
        for source in sorted(alone):
            print_errors("  " + source[:40], [abs(r["predicted"] / r["published"] - 1) for r in of if r["source"] == source])


if __name__ == "__main__":
    main()

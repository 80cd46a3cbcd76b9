#!/usr/bin/env python3
"""The tables of docs/results and docs/papers.md, made from the CSV files beside this script.

    tables.py [--root FOLDER]     writes each table into its page, between the two markers that name it
    tables.py --check             writes nothing; exits 1 and names each table that its page shows otherwise
    tables.py NAME [CSV]          prints one table, of another CSV file if one is given

A page says where a table stands by two lines, and keeps hand-written text outside of them:

    <!-- table NAME -->
    <!-- end of table -->
"""
import argparse
import csv
import io
import math
import pathlib
import re
import statistics
import sys
import textwrap

import claims
import parallel
import search_choice
from figures import by_workload, extent, geometric_mean, median_ns, ms, records, values_ns

MARKED = re.compile(r"(<!-- table (\w+) -->\n)(.*?)(<!-- end of table -->)", re.DOTALL)
LATENCY_STEPS = {"1000": "1k", "4000": "4k", "16000": "16k"}


TITLES = {"off %": "error %", "by parts off %": "by parts error %", "worst stage off %": "worst stage error %",
          "searched best ms": "winner in its race ms", "beside single ms": "single device in that race ms",
          "in turn ms": "winner interleaved ms", "single in turn ms": "single device interleaved ms",
          "faster %": "faster than the single device %", "as good": "splitting matches milp after",
          "the same below the best plan": "linear_relaxation with cutoff", "ours to best rule": "situ over best rule", "ours": "situ"}


def as_it_is(text):
    """Cells as the measuring program wrote them; the first line has the column names, some with a clearer title."""
    names, *rows = csv.reader(io.StringIO(text))
    return [[TITLES.get(name, name) for name in names], *rows]


def cpu_types(text):
    """By type, for a dense model and for experts: the measured time of a token, and the errors of the prediction now and before."""
    names = [(model, phase) for model in ("dense", "experts") for phase in ("decode", "prefill")]
    table = [["type", *(f"{model}, {phase} us, error, before" for model, phase in names)]]
    found = {}
    for r in records(text):
        errors = (float(r[k]) / float(r["measured_us"]) - 1 if r[k] else None for k in ("predicted_us", "before_us"))
        cell = f"{float(r['measured_us']):.0f}, " + ", ".join(f"{e:+.0%}" for e in errors if e is not None)
        label = r["type"] if r["after"] == "0" else f"{r['type']} after {r['after']} tokens, cache {r['cache']}"
        found.setdefault(label, {})[r["model"], r["phase"]] = cell
    return table + [[label, *(cells.get(name, "") for name in names)] for label, cells in found.items()]


def gpu_day(text):
    """Predictions as they were made on the day and as they are now, and the errors of both."""
    names, *rows = csv.reader(io.StringIO(text))
    before, now, measured = (next(i for i, n in enumerate(names) if n.startswith(words)) for words in (
        ("predicted_before", "situ_before"), ("predicted_ms", "situ_mib", "predicted"), ("measured", "pytorch")))
    now = max(now, before + 1)
    shown = [i for i, n in enumerate(names) if n != "card"]
    table = [[names[i].replace("_", " ") for i in shown] + ["error before", "error"]]
    for r in rows:
        errors = [f"{float(r[i]) / float(r[measured]) - 1:+.0%}" for i in (before, now)]
        table.append([f"{float(r[i]):,.0f}" if i in (before, now, measured) and float(r[i]) >= 1000 else f"{float(r[i]):.4g}" if i in (before, now, measured) else r[i] for i in shown] + errors)
    return table


def throughput(text):
    contiguous = ["single", "pipedream", "scotch", "metis", "linear_dp (1 order)", "linear_dp", "ideal_dp"]
    free = ["scotch", "metis", "steepest_descent", "free_search", "expert"]
    table = [["workload", "bound", *contiguous, "free: scotch", *free[1:]]]
    for workload, found in by_workload(text).items():
        cells = [("contiguous", s) for s in contiguous] + [("free", s) for s in free]
        table.append([workload, ms(found["contiguous", "single"]["bound_ns"], ".6g")]
                     + [ms(found.get(cell, {}).get("value_ns"), ".6g") for cell in cells])
    return table


def calls(text, published):
    """`published`: the figures of the published evaluation, for each workload the best one that keeps memory, and the
    best of its dynamic programs."""
    solvers = ["single", "greedy", "call_search", "call_dp"]
    table = [["workload", "path", *solvers, "bound", "gap", "published", "call_dp, q = 1", "published splits"]]
    others = {row["workload"]: row for row in records(published)}
    for workload, found in by_workload(text).items():
        if ("calls", "call_dp") not in found:
            continue
        proved, other = found["calls", "call_dp"], others[workload]
        value, bound = int(proved["value_ns"]), int(proved["bound_ns"])
        table.append([workload, ms(found["calls", "single"]["bound_ns"], ".7g")]
                     + [ms(found.get(("calls", s), {}).get("value_ns"), ".7g") for s in solvers]
                     + [ms(bound, ".7g"), f"{100 * (value - bound) / value:.2f} %", other["published ms"],
                        ms(found["calls1", "call_dp"]["value_ns"], ".7g"), other["published splits ms"]])
    return table


def latency(text):
    quick = ["single", "heft", "m_etf", "m_sct", "scotch", "metis"]
    searches = ["tabu", "iterated_greedy", "auto"]
    titles = [f"{s} 1k" if k == "1k" else k for s in searches for k in LATENCY_STEPS.values()]
    table = [["network, platform", "bound", *quick, *titles]]
    found = {}
    for row in records(text):
        found.setdefault((row["instance"], row["platform"]), {})[row["solver"], row["steps"]] = row
    for (instance, platform), rows in found.items():
        cells = [(s, "0") for s in quick] + [(s, steps) for s in searches for steps in LATENCY_STEPS]
        table.append([f"{instance}, {platform}", ms(max(int(r["bound_ns"]) for r in rows.values()), ".4f")]
                     + [ms(rows.get(cell, {}).get("value_ns"), ".4f") for cell in cells])
    return table


def anytime(text):
    """Per cent above the best, and the geometric means of these ratios with the number of rows that they are of."""
    others, stops = ["heft", "m_etf", "m_sct", "scotch", "metis", "milp"], ["1s", "10s", "ns"]
    found, ratios = {}, {}
    for row in records(text):
        found.setdefault((row["instance"], row["platform"]), {})[row["solver"]] = row

    def over(name, value, best):
        if not value:
            return "-"
        ratios.setdefault(name, []).append(int(value) / int(best))
        return f"{100 * (int(value) / int(best) - 1):.1f}"

    def gap(stop, row):
        value, proved = int(row["value_" + stop] or 0), int(row["bound_" + stop] or 0)
        if value and proved:
            ratios.setdefault("gap " + stop, []).append(value / proved)
        return f"{100 * (1 - proved / value):.1f}" if value else "-"

    table = [["network, platform", "best ms", "bound ms", "within 1 % after s", "auto: 1 s", "10 s", "end",
              "gap 1 s", "10 s", "end", "CPU s", *others]]
    for (instance, platform), rows in found.items():
        auto = rows["auto"]
        best, bound = auto["best_ns"], max(int(r["bound_ns"] or 0) for r in rows.values())
        table.append([instance + (", " + platform if platform else ""), ms(best, ".4f"), ms(bound, ".4f")]
                     + [auto["near_s"] or "-"]
                     + [over("auto " + stop, auto["value_" + stop], best) for stop in stops]
                     + [gap(stop, auto) for stop in stops] + [f"{float(auto['cpu_s']):.0f}"]
                     + [over(s, rows.get(s, {}).get("value_ns"), best) for s in others])
    means = {name: geometric_mean(of) for name, of in ratios.items()}
    table.append(["geometric mean", "", "", ""] + [f"{100 * (means['auto ' + stop] - 1):.1f}" for stop in stops]
                 + [f"{100 * (1 - 1 / means['gap ' + stop]):.1f}" for stop in stops] + [""]
                 + [f"{100 * (means[s] - 1):.1f} ({len(ratios[s])})" if s in means else "-" for s in others])
    return table


def first_plans(text):
    """Per cent above the value after 10 s, or above an earlier one that is less, and the number of rows within 10 %."""
    stops = ["10ms", "100ms", "1s"]
    table = [["network, platform", "best ms", "first plan ms", "after 10 ms", "100 ms", "1 s"]]
    near = dict.fromkeys(stops, 0)
    rows = records(text)
    for row in rows:
        over = {stop: int(row[stop]) / int(row["best_ns"]) - 1 for stop in stops if row[stop]}
        for stop in over:
            near[stop] += over[stop] <= 0.1
        table.append([", ".join(filter(None, (row["instance"], row["platform"]))), ms(row["best_ns"], ".4f"), row["first_ms"]]
                     + [f"{100 * over[stop]:.1f}" if stop in over else "-" for stop in stops])
    table.append([f"within 10 %, of {len(rows)}", "", ""] + [str(near[stop]) for stop in stops])
    return table


PEERS = ["cp-sat", "scip", "highs", "mt-kahypar"]


def peers(text):
    """Values of peers in per cent above situ's, and the highest bound that one of them proved."""
    found = {}
    for row in records(text):
        found.setdefault((row["kind"], row["model"], row["platform"], row["units"]), {})[row["solver"]] = row
    table = [["problem", "units", "situ ms", "bound", "gap %", "peers' bound", *PEERS]]
    for (kind, model, platform, units), rows in found.items():
        ours = rows["situ"]
        value, bound = int(ours["value_ns"]), int(ours["bound_ns"])
        theirs = max((int(rows[s]["bound_ns"] or 0) for s in PEERS if s in rows), default=0)

        def over(solver):
            if solver not in rows:
                return ""
            other = rows[solver]["value_ns"]
            return f"{100 * (int(other) / value - 1):+.1f} %" if other else "-"

        table.append([f"{kind}: {model}, {platform}", units, ms(value, ".4f"), ms(bound, ".4f"), f"{100 * (1 - bound / value):.1f}",
                      ms(theirs, ".4f"), *map(over, PEERS)])
    return table


def picked(text):
    """Which of the plans on two equal cores is predicted to be fastest, and how much slower it is than the one measured so."""
    table = [["engine", "model", "time of", "predicted to be fastest", "measured fastest", "loss %"]]
    found = {}
    for row in records(text):
        if row["measured ms"] and "unlike" not in row["plan"]:
            found.setdefault((row["engine"], row["model"]), {}).setdefault(row["time of"], []).append(row)
    for (engine, model), kinds in found.items():
        one = [row for row in kinds.get("one input", []) if row["plan"].startswith("whole")]
        for kind, rows in kinds.items():
            if kind != "one input":
                rows = rows + one  # a device alone takes many inputs one after the other
            best = min(rows, key=lambda row: float(row.get("by parts ms") or row["predicted ms"]))
            fastest = min(rows, key=lambda row: float(row["measured ms"]))
            lost = 100 * (float(best["measured ms"]) / float(fastest["measured ms"]) - 1)
            table.append([engine, model, kind, best["plan"], fastest["plan"], f"{lost:.1f}"])
    return table


GO_KNOWN = ["single", "expert", "metis", "heft", "random", "auto"]
GO_EFFORT = ["expert", "hdp", "heft", "cross-entropy", "gdp-one"]


def go_networks(text):
    """Networks by their size, and {(title, row): records, one of each seed}."""
    found, size = {}, {}
    for r in records(text):
        found.setdefault((r["title"], r["row"]), []).append(r)
        size[r["title"]] = max(size.get(r["title"], 0), int(r["operators"] or 0))
    return dict(sorted(size.items(), key=lambda of: of[1])), found


def spread(of, form=".4g"):
    """The median of all seeds, and where there are several their range and number."""
    values = values_ns(of)
    if len(values) < 2:
        return ms(values[0], form) if values else "-"
    return f"{ms(statistics.median(values), form)} ({ms(values[0], form)} to {ms(values[-1], form)}; {len(values)})"


def go_table(text, rows):
    networks, found = go_networks(text)
    table = [["training step (GPUs)", "operators", *rows, "bound"]]
    for title, size in networks.items():
        of = [r for (t, _), rs in found.items() for r in rs if t == title]
        bound = max(int(r["bound_ns"]) for r in of if r["row"] != "expert")  # that one has pins
        expert = median_ns(found.get((title, "expert"), []))

        def cell(row):
            same = row != "expert" and expert and median_ns(found.get((title, row), [])) == expert
            return spread(found.get((title, row), [])) + (" layout" if same else "")

        table.append([f"{title} ({of[0]['gpus']})", str(size), *map(cell, rows), ms(bound, ".4g")])
    return table


def go_rows(text):
    return list(dict.fromkeys(r["row"] for r in records(text)))


def go(text):
    return go_table(text, [r for r in GO_KNOWN if r in go_rows(text)])


def learned(text):
    return go_table(text, sorted(r for r in go_rows(text) if r not in GO_KNOWN))


def learned_effort(text):
    """What each method took for one seed, and how many times as long as its plans those of others take, as geometric means of
    medians over the networks that have both."""
    networks, found = go_networks(text)
    table = [["row", "networks", "seeds", "evaluations", "CPU s", "of one network", "peak MB",
              *(f"value of {other} over that of the row" for other in GO_EFFORT)]]

    def value(title, row):
        return median_ns(found.get((title, row), []))

    for row in sorted(go_rows(text)):
        all_of = [found[title, row] for title in networks if (title, row) in found]
        steps = [int(r["steps"]) for of in all_of for r in of]
        seconds = [sum(float(r["cpu_s"]) for r in of) / len(of) for of in all_of]
        ratios = [[value(t, other) / value(t, row) for t in networks if value(t, row) and value(t, other)] for other in GO_EFFORT]
        n_seeds = [len(of) for of in all_of]
        table.append([row, str(len(all_of)), extent(n_seeds), extent(steps), f"{sum(seconds):.0f}",
                      f"{min(seconds):.1f} to {max(seconds):.1f}", f"{max(float(r['peak_mb']) for of in all_of for r in of):.0f}",
                      *(f"{geometric_mean(of):.3f}" for of in ratios)])
    return table


def learned_row(text):
    """Of each kind and number of steps: how values compare with those of `auto` alone."""
    found = {}
    for r in records(text):
        at = found.setdefault((r["kind"], int(r["steps"])), {}).setdefault((r["instance"], r["platform"], r["seed"]), {})
        at[r["row"]] = r
    table = [["graphs", "steps", "how many", "seeds", "value over that of auto alone: minimum", "geometric mean", "maximum", "lower",
              "higher", "CPU s of auto alone", "with gdp before it"]]
    for (kind, steps), of in found.items():
        pairs = [(at["auto"], at["gdp, then auto"]) for at in of.values() if len(at) == 2]
        ratios = [int(b["value_ns"]) / int(a["value_ns"]) for a, b in pairs if a["value_ns"] and b["value_ns"]]
        seconds = [sum(float(row["cpu_s"]) for row in column) for column in zip(*pairs)]
        table.append([kind, str(steps), str(len({k[:2] for k in of})), str(len({k[2] for k in of})), f"{min(ratios):.3f}",
                      f"{geometric_mean(ratios):.4f}", f"{max(ratios):.3f}", str(sum(r < 0.9999 for r in ratios)),
                      str(sum(r > 1.0001 for r in ratios)), *(f"{s:.0f}" for s in seconds)])
    return table


def stages(text):
    """Bound over best, by network and number of stages; the last rows are geometric means, of it and of mere work."""
    found, work = {}, {}
    for r in records(text):
        found.setdefault(r["network"], {})[int(r["k"])] = int(r["bound_ns"]) / int(r["value_ns"])
        work.setdefault(int(r["k"]), []).append(int(r["work_ns"]) / int(r["value_ns"]))
    ks = sorted(work)
    rows = [["network", *(f"k = {k}" for k in ks)]]
    rows += [[network, *(f"{of[k]:.3f}" for k in ks)] for network, of in found.items()]
    rows.append(["geometric mean", *(f"{geometric_mean([of[k] for of in found.values()]):.3f}" for k in ks)])
    return rows + [["of work / k", *(f"{geometric_mean(work[k]):.3f}" for k in ks)]]


def milp_published(text):
    """Values in ms; a claimed bound that is the value is an end by the engine."""
    rows = [["program", "workload", "optimum", "exact solver s", "HiGHS", "its bound", "from our bound", "nodes", "CPU s"]]
    for r in records(text):
        best, ended = f"{int(r['value_ns']) / 1e6:.6g}", r["ended"] == "1"
        claimed = "ended" if ended else f"{int(r['claimed_ns']) / 1e6:.6g}" if int(r["claimed_ns"] or 0) else "-"
        rows.append([r["program"], r["workload"], f"{int(r['optimum_ns']) / 1e6:.6g}", r["exact_s"], best, claimed,
                     f"{int(r['bound_ns']) / 1e6:.6g}", r["nodes"], r["cpu_s"]])
    return rows


def hsdag_released(text):
    """Runs of the released code: median and range of the seeds."""
    found = {}
    for r in records(text):
        found.setdefault(r["model"], []).append(r)
    def spread(values, digits):
        middle = f"{statistics.median(values):.{digits}f}"
        return middle if len(values) == 1 else f"{middle} ({min(values):.{digits}f} to {max(values):.{digits}f})"

    rows = [["", "nodes", "groups", "seeds", "best, ms", "of 500 trials rejected %", "clusters, median", "s"]]
    for model, of in found.items():
        values = [int(r["value_ns"]) / 1e6 for r in of]
        rejected = [100 * int(r["rejected"]) / int(r["trials"]) for r in of]
        rows.append([model, of[0]["nodes"], of[0]["groups"], str(len(of)),
                     spread(values, 3), spread(rejected, 0),
                     f"{statistics.median(float(r['clusters']) for r in of):g}", f"{sum(float(r['cpu_s']) for r in of) / len(of):.0f}"])
    return rows


def hsdag_table(text, cell):
    found, models = {}, {}
    for r in records(text):
        found.setdefault((r["row"], r["trials asked"]), {}).setdefault(r["model"], []).append(r)
        models[r["model"]] = None
    table = [["", "trials", "seeds", *models]]
    for (row, trials), of in sorted(found.items(), key=lambda item: int(item[0][1] or 0)):
        cells = [cell(of.get(model, [])) for model in models]
        if any(cells):
            table.append([row, trials or extent([int(r["trials"]) for rs in of.values() for r in rs]),
                          extent([len(rs) for rs in of.values()]), *cells])
    return table


def hsdag_values(text):
    def cell(of):
        values = [v / 1e6 for v in values_ns(of)]
        if len(values) < 2:
            return f"{values[0]:.3f}" if values else "-"
        return f"{statistics.median(values):.3f} ({values[0]:.3f} to {values[-1]:.3f})"

    bounds = {}
    for r in records(text):
        if r["row"] in ("auto", "heft"):
            bounds[r["model"]] = max(bounds.get(r["model"], 0), int(r["bound_ns"]))
    table = hsdag_table(text, cell)
    return table + [["bound", "", "", *(f"{bounds[m] / 1e6:.3f}" for m in table[0][3:])]] if bounds else table


def hsdag_found(text):
    """Clusters of the best placements, where a method has clusters."""
    def cell(of):
        counts = sorted(int(r["groups"]) for r in of if r["groups"])
        return f"{statistics.median(counts):g} ({extent(counts)})" if counts else ""

    return hsdag_table(text, cell)


def hsdag_seconds(text):
    """Seconds of one core, and trials that were measured: the released recipe measures no placement on one device."""
    def cell(of):
        seconds = [float(r["cpu_s"]) for r in of]
        trials = extent([int(r["trials"]) for r in of]) if of else ""
        return f"{sum(seconds) / len(seconds):.1f} s, {trials}" if of else ""

    return hsdag_table(text, cell)


def gdp_parts(text):
    """Value over the best single device: median of all seeds, in brackets their range and number."""
    found, networks = {}, {}
    for r in records(text):
        found.setdefault(r["row"], {}).setdefault(r["network"], []).append(int(r["value_ns"]) / int(r["single_ns"]))
        networks[r["network"]] = None

    def cell(of):
        middle = f"{statistics.median(of):.3f}" if of else "-"
        return f"{middle} ({min(of):.3f} to {max(of):.3f}; {len(of)})" if len(of) > 1 else middle

    return [["", *networks], *([row, *(cell(of.get(n, [])) for n in networks)] for row, of in found.items())]


def gdp_batch(text):
    """Geometric means over the networks of values over the median of `each`, by the number of GPUs: median and range of the seeds."""
    files = claims.Files({"gdp_batch.csv": text}.__getitem__)
    gpus = sorted({r["gpus"] for r in records(text)}, key=int)
    of_gpus = {n: claims.Files({"gdp_batch.csv": only(text, "gpus", n)}.__getitem__) for n in gpus}
    rows = [["", "trials of a network", *(f"{n} GPUs" for n in gpus)]]
    for row in dict.fromkeys(r["row"] for r in records(text)):
        cells = []
        for n in gpus:
            has = any(r["row"] == row and r["gpus"] == n for r in records(text))
            ratios = claims.batch_over_each(of_gpus[n], row) if has else []
            cells.append(f"{statistics.median(ratios):.3f} ({ratios[0]:.3f} to {ratios[-1]:.3f}; {len(ratios)})" if ratios else "-")
        rows.append([row, extent([int(r["trials"]) for r in files.rows("gdp_batch.csv") if r["row"] == row]), *cells])
    return rows


def only(text, column, value):
    """The CSV text of the rows that have this value."""
    out = io.StringIO()
    kept = [r for r in records(text) if r[column] == value]
    writer = csv.DictWriter(out, list(kept[0]))
    writer.writeheader()
    writer.writerows(kept)
    return out.getvalue()


def hsdag_outputs(text):
    """Of each network and engine: how many placements, parts, and the maximum difference of outputs."""
    found = {}
    for r in records(text):
        found.setdefault((r["model"], r["engine"]), []).append(r)
    rows = [["network", "operators", "engine", "placements", "parts", "maximum relative difference"]]
    for (model, engine), of in found.items():
        rows.append([model, of[0]["operators"], engine, str(len(of)), extent([int(r["parts"]) for r in of]),
                     f"{max(float(r['relative difference']) for r in of):.1g}"])
    return rows


def served_single(text):
    """For each platform how many plans are worse than, as good as and better than the best single device, and their ratio."""
    table = [["platform", "built-in networks", "files", "worse", "equal", "better", "value over single device: minimum", "geometric mean",
              "maximum"]]
    found = {}
    for r in records(text):
        if r["value_ns"] and r["single_ns"]:
            found.setdefault(r["platform"], []).append(r)
    for platform, of in [*found.items(), ("all", [r for rs in found.values() for r in rs])]:
        ratios = [int(r["value_ns"]) / int(r["single_ns"]) for r in of]
        built_in = sum(r["model"].startswith("builtin:") for r in of)
        table.append([platform, str(built_in), str(len(of) - built_in), str(sum(x > 1 for x in ratios)), str(sum(x == 1 for x in ratios)),
                      str(sum(x < 1 for x in ratios)), f"{min(ratios):.3f}", f"{geometric_mean(ratios):.3f}", f"{max(ratios):.3f}"])
    return table


def served_zero_shot(text):
    """Value over the best single device and seconds of one core; geometric means of each kind."""
    found, rows = {}, list(dict.fromkeys(r["row"] for r in records(text) if r["row"] != "single"))
    for r in records(text):
        found.setdefault((r["kind"], f"{r['network']} ({r['gpus']})"), {})[r["row"]] = r
    table = [["", "training step (GPUs)", "operators", "single ms", *rows, "seconds of served", "of auto"]]
    over = {}
    for (kind, network), of in found.items():
        single = int(of["single"]["value_ns"])
        ratio = {row: int(of[row]["value_ns"]) / single for row in rows if row in of and of[row]["value_ns"]}
        over.setdefault(kind, []).append(ratio)
        table.append([kind, network, of["single"]["operators"], ms(single, ".4g")] + [f"{ratio[r]:.3f}" if r in ratio else "-" for r in rows]
                     + [f"{float(of[r]['cpu_s']):.1f}" if r in of else "-" for r in ("served", "auto")])
    for kind, ratios in over.items():
        if len(ratios) > 1:
            means = [geometric_mean([of[r] for of in ratios]) if all(r in of for of in ratios) else math.nan for r in rows]
            table.append([kind, "geometric mean", "", ""] + [f"{m:.3f}" for m in means] + ["", ""])
    return table


def parallel_speeds(text):
    titles = ["split", "phase", "links", "engines", "rows", "median error %", "signed %", "within 40 %", "signed %, half 1 (rows)"]
    return [titles, *([str(cell) for cell in line] for line in parallel.summary(records(text)))]


def groups(text):
    """A row for each model and platform: the tokens a second of the best plan with each size of groups."""
    rows = records(text)
    sizes = sorted({int(r["size"]) for r in rows})
    table = [["model", "platform", *(f"groups of {k}" if k > 1 else "whole operators" for k in sizes), "best is at least", "gap"]]
    for key in dict.fromkeys((r["model"], r["platform"]) for r in rows):
        mine = {int(r["size"]): r for r in rows if (r["model"], r["platform"]) == key}
        best, bound = (int(next(iter(mine.values()))[c]) for c in ("best_ns", "best_bound_ns"))
        speeds = [(f"**{mine[k]['tokens_per_s']}**" if int(mine[k]["token_ns"]) == best else mine[k]["tokens_per_s"]) if k in mine else ""
                  for k in sizes]
        table.append([key[0], f"`{key[1]}`", *speeds, f"{bound / 1e6:.2f} ms", f"{best / bound - 1:.2%}".replace("%", " %")])
    return table


def piper(text):
    """A row for each network and column: how often a plan of situ stages is as short as that of Piper's program, and the seconds of both."""
    table = [["network", "plans with", "settings", "without a plan", "equal", "shorter", "Piper's not run", "proved", "checked again",
              "CPU s, situ", "CPU s, Piper's"]]
    rows = records(text)
    for network, column in dict.fromkeys((r["network"], r["column"]) for r in rows):
        mine = [r for r in rows if (r["network"], r["column"]) == (network, column)]
        done = [r for r in mine if r["piper"] and r["situ"]]
        shorter = [r for r in done if float(r["situ_by_piper"]) < float(r["piper"]) * (1 - 1e-6) or float(r["piper"]) < 0]
        equal = [r for r in done if r not in shorter and float(r["situ_by_piper"]) <= float(r["piper"]) * (1 + 1e-6)]
        seconds = [f"{statistics.median(times):.2f} ({max(times):.1f})" if times else "" for times in
                   ([float(r["situ_seconds"]) for r in mine], [float(r["piper_seconds"]) for r in mine if r["piper"]])]
        table.append([network, "everything" if column == "all" else column, len(mine), sum(not r["situ"] for r in mine), len(equal),
                      len(shorter), sum(not r["piper"] for r in mine), sum(r["situ"] == r["situ_bound"] for r in mine),
                      sum(r["checked"] == "True" for r in mine), *seconds])
    return [[str(cell) for cell in line] for line in table]


def helix(text):
    """Tokens a second: what Helix's solver found and proved, the flow bound, and our plan, the last two with shares of the bound."""
    table = [["case", "nodes", "links", "Helix's plan", "bound of its solver", "flow bound", "our plan", "Helix's of bound", "ours of bound"]]
    for r in records(text):
        table.append([r['case'], *(r[k] for k in ("nodes", "links", "helix", "helix bound", "flow bound", "ours")),
                      f"{float(r['helix %']):.0f} %", f"{float(r['ours %']):.0f} %" if r["ours"] else ""])
    return table


def parallel_pairs(text):
    titles = ["tensor split against", "phase", "links", "pairs", "tensor split faster", "named rightly"]
    return [titles, *([str(cell) for cell in line] for line in parallel.pair_lines(records(text)))]


def parallel_ratios(text):
    titles = ["tensor split against", "phase", "GPUs", "pairs", "median error of the gain %", "signed %", "within 40 %",
              "median error of the speed %"]
    return [titles, *([str(cell) for cell in line] for line in parallel.ratio_lines(records(text)))]


def growth(text):
    table = [["family", "operators", "memory", "objective", "value ms", "bound ms", "gap %", "best single ms", "on GPUs",
              "found by", "limit s", "s", "CPU s", "peak MB", "first plan: CPU s"]]
    for r in records(text):
        gap = f"{100 * (1 - int(r['bound_ns']) / int(r['value_ns'])):.1f}" if r["value_ns"] else "-"
        table.append([r["family"], r["operators"], r["memory"], r["objective"], ms(r["value_ns"], ".2f") or "-",
                      ms(r["bound_ns"], ".2f"), gap, ms(r["single_ns"], ".2f") or "-", r["on_gpus"], r["solver"],
                      f"{float(r['limit_s']):.1f}", r["seconds"], r["cpu_s"], r["peak_mb"], r["first_cpu_s"]])
    return table


def of_papers(table, files, command=""):
    """A table of claims.py, which reads files by their names."""
    return (lambda *texts: table(claims.Files(dict(zip(files, texts)).__getitem__)), files, command)


def claimed(paper, files):
    return of_papers(lambda read: claims.table(paper, read), files)


HSDAG = "bench/hsdag.py build/situ bench/hsdag_values.csv --data FOLDER --seeds 5 --table "
# Name: the function, its CSV files, and the command that makes the first (empty: the text of the page says how).
BOUND_NAMES = ["memory_price", "packing", "critical_path", "memory_cut", "unit_chain", "area_price",
               "largest_operator", "side_cut", "runs", "join", "destructive", "cut_vertex", "linear_relaxation",
               "visit_labels"]


def ablation(text):
    """Of each row left out: in how many problems it takes part, in how many the value or the bound is worse by 0.1 % or
    more, by how much at worst and on average (geometric mean)."""
    found = {}
    for row in records(text):
        found.setdefault(row["left_out"], {})[row["instance"]] = row
    whole, bounds = found.pop(""), found.pop("bounds")
    kinds = {row["instance"]: row["class"] for row in whole.values()}
    rows = []
    for name, left_out in found.items():
        values, lower, lost = [], [], 0
        for instance, row in left_out.items():
            before = (bounds if name in BOUND_NAMES else whole)[instance]
            pair = row["value_ns"], before["value_ns"]
            by_bound = row["certified_ns"] and "" not in pair and name in BOUND_NAMES  # a plan has the certificate
            lost += pair[0] != pair[1] and ("infeasible" in pair or "" in pair)
            if "infeasible" in pair or not row["bound_ns"]:
                continue
            if name not in BOUND_NAMES and "" not in pair:
                values.append(int(pair[0]) / int(pair[1]))
            column = "certified_ns" if by_bound else "bound_ns"
            lower.append(max(int(row[column]), 1) / max(int(before[column]), 1))
        worse, weaker = [v for v in values if v >= 1.001], [b for b in lower if b <= 0.999]
        classes = list(dict.fromkeys(kinds[instance] for instance in left_out))
        rows.append([name, ", ".join(classes) if len(classes) < 5 else "all", str(len(left_out)), str(len(worse)),
                     f"{100 * max(values) - 100:+.1f} %" if worse else "", f"{100 * geometric_mean(values) - 100:+.2f} %"
                     if values else "", str(len(weaker)), f"{100 * min(lower) - 100:+.1f} %" if weaker else "",
                     str(lost) if lost else ""])
    return [["left out", "classes", "problems", "worse plans", "at worst", "on average", "weaker bounds", "at worst",
             "lost proofs or plans"], *rows]


def choices(text):
    """What leaving one row out can gain: for each problem the best of all, and the one that is best on the others of its class."""
    found = {}
    for r in records(text):
        if r["value_ns"].isdigit() and int(r["value_ns"]):
            found.setdefault(r["class"], {}).setdefault(r["instance"], {})[r["left_out"]] = int(r["value_ns"])
    rows, all_best, all_held = [["class", "problems", "best by hindsight", "best on the others"]], [], []
    for kind, problems in found.items():
        ratios = [{row: value / of[""] for row, value in of.items()} for of in problems.values() if "" in of]
        best, held = [min(of.values()) for of in ratios], []
        for k, own in enumerate(ratios):
            others = ratios[:k] + ratios[k + 1:]
            common = [row for row in own if others and all(row in of for of in others)]
            held.append(own[min(common, key=lambda row: geometric_mean([of[row] for of in others]))] if common else 1)
        all_best, all_held = all_best + best, all_held + held
        rows.append([kind, str(len(ratios)), *(f"{100 * geometric_mean(x) - 100:+.2f} %" for x in (best, held))])
    return rows + [["all", str(len(all_best)), *(f"{100 * geometric_mean(x) - 100:+.2f} %" for x in (all_best, all_held))]]


TABLES = {
    "throughput": (throughput, ["ledger.csv"], "bench/ledger.sh build > bench/ledger.csv"),
    "calls": (calls, ["ledger.csv", "published_calls.csv"], "bench/ledger.sh build > bench/ledger.csv"),
    "latency": (latency, ["latency.csv"], "bench/latency.sh build > bench/latency.csv"),
    "anytime": (anytime, ["anytime.csv"], "chrt -r 1 bench/anytime.py build/situ ../shared > bench/anytime.csv"),
    "first_plans": (first_plans, ["first_plans.csv"],
                    "chrt -r 1 bench/anytime.py build/situ ../shared --first > bench/first_plans.csv"),
    "peers": (peers, ["peers.csv"], "bench/peers.py --seconds 10 > bench/peers.csv"),
    "wide": (as_it_is, ["wide.csv"], "bench/wide.py build/situ ../shared > bench/wide.csv"),
    "published": (as_it_is, ["published.csv"], ""),
    "servers": (as_it_is, ["servers.csv"], "bench/servers.py build/situ > bench/servers.csv"),
    "milp_latency": (as_it_is, ["milp_latency.csv"], "build/bench/layered 40 1 2 > bench/milp_latency.csv"),
    "milp_published": (milp_published, ["milp_published.csv"],
                       "bench/milp.py build/situ bench/milp_published.csv WORKLOADS --seconds 100"),
    "hsdag_released": (hsdag_released, ["hsdag_released.csv"],
                       "bench/hsdag_released.py CLONE bench/hsdag_released.csv --data FOLDER"),
    "hsdag_outputs": (hsdag_outputs, ["hsdag_outputs.csv"], "bench/hsdag_outputs.py build/situ bench/hsdag_outputs.csv"),
    "milp_throughput": (as_it_is, ["milp_throughput.csv"], ""),
    "splitting_latency": (as_it_is, ["splitting_latency.csv"],
                          "bench/splitting.py build/situ --table latency > bench/splitting_latency.csv"),
    "splitting_throughput": (as_it_is, ["splitting_throughput.csv"],
                             "bench/splitting.py build/situ --table throughput > bench/splitting_throughput.csv"),
    "splitting_memory": (as_it_is, ["splitting_memory.csv"],
                         "bench/splitting.py build/situ --table memory > bench/splitting_memory.csv"),
    "robust": (as_it_is, ["robust.csv"], "build/bench/held_out > bench/robust.csv"),
    "situations": (as_it_is, ["situations.csv"], "bench/situations.py build/situ > bench/situations.csv"),
    "threads": (as_it_is, ["threads.csv"], "bench/threads.py build/situ > bench/threads.csv"),
    "llm_situations": (as_it_is, ["llm_situations.csv"],
                       "bench/llm_situations.py build/situ > bench/llm_situations.csv"),
    "llm_written": (as_it_is, ["llm_written.csv"], "bench/llm_written.py build/situ > bench/llm_written.csv"),
    "cpu_types": (cpu_types, ["cpu_types.csv"],
                  "bench/cpu_types.py build/situ LLAMACPP --before OLDER/situ --peak-gflops 240 -o bench/cpu_types.csv"),
    "llamacpp": (as_it_is, ["llamacpp.csv"], "bench/llamacpp.py build/situ > bench/llamacpp.csv"),
    "parallel": (parallel_speeds, ["parallel.csv"],
                 "bench/parallel.py build/situ published_parallel.csv -o bench/parallel.csv"),
    "piper": (piper, ["piper.csv"], "bench/piper.py build/situ PIPER > bench/piper.csv"),
    "helix": (helix, ["helix.csv"], "bench/helix.py HELIX > bench/helix.csv"),
    "parallel_pairs": (parallel_pairs, ["parallel.csv"], ""),
    "parallel_ratios": (parallel_ratios, ["parallel.csv"], ""),
    "groups": (groups, ["groups.csv"], "bench/groups.py build/situ bench/groups.csv"),
    "disaggregation": (as_it_is, ["disaggregation.csv"], "bench/disaggregation.py build/situ > bench/disaggregation.csv"),
    "gpu_engine": (gpu_day, ["gpu_day/engine.csv"], ""),
    "gpu_whole": (gpu_day, ["gpu_day/whole.csv"], ""),
    "gpu_training": (gpu_day, ["gpu_day/training.csv"], ""),
    "gpu_maps": (gpu_day, ["gpu_day/maps.csv"], ""),
    "gpu_placed": (as_it_is, ["gpu_day/placed.csv"], ""),
    "measured": (as_it_is, ["measured.csv"], "chrt -r 1 bench/measured.py build/situ DATA --time-limit 120 > bench/measured.csv"),
    "picked": (picked, ["measured.csv"], ""),
    "roofline": (as_it_is, ["roofline.csv"], "bench/roofline.py build/situ DATA --under 'chrt -r 1' > bench/roofline.csv"),
    "measured_search": (as_it_is, ["measured_search.csv"],
                        "bench/measured_search.py build/situ DATA --under 'chrt -r 1' > bench/measured_search.csv"),
    "joins": (as_it_is, ["joins.csv"], ""),
    "visits": (as_it_is, ["visits.csv"], ""),
    "go": (go, ["go.csv"], "bench/learned.py build/situ bench/go.csv --seeds 5"),
    "learned": (learned, ["go.csv"], "bench/learned.py build/situ bench/go.csv --seeds 5"),
    "learned_effort": (learned_effort, ["go.csv"], "bench/learned.py build/situ bench/go.csv --seeds 5"),
    "gdp_parts": (gdp_parts, ["gdp_parts.csv"], "bench/gdp_parts.py build/situ bench/gdp_parts.csv"),
    "gdp_batch": (gdp_batch, ["gdp_batch.csv"], "bench/gdp_batch.py build/situ bench/gdp_batch.csv"),
    "served_single": (served_single, ["served_single.csv"],
                      "bench/served.py build/situ bench/served_single.csv --table single --data FOLDER"),
    "served_zero_shot": (served_zero_shot, ["served_zero_shot.csv"],
                         "bench/served.py build/situ bench/served_zero_shot.csv --table zero_shot"),
    "learned_row": (learned_row, ["learned_row.csv"],
                    "bench/learned_row.py build/situ bench/learned_row.csv --data FOLDER"),
    "hsdag_values": (hsdag_values, ["hsdag_values.csv"], HSDAG + "values"),
    "hsdag_found": (hsdag_found, ["hsdag_values.csv"], HSDAG + "values"),
    "hsdag_seconds": (hsdag_seconds, ["hsdag_values.csv"], HSDAG + "values"),
    "hsdag_tokens": (hsdag_values, ["hsdag_tokens.csv"], "bench/hsdag.py build/situ bench/hsdag_tokens.csv --seeds 5 --table values "
                     "'builtin:bert-base?seq=8'"),
    "hsdag_ablation": (hsdag_values, ["hsdag_ablation.csv"], HSDAG.replace("values", "ablation") + "ablation"),
    "hsdag_groups": (as_it_is, ["hsdag_groups.csv"],
                     "bench/hsdag.py build/situ bench/hsdag_groups.csv --data FOLDER --table groups"),
    "ablation": (ablation, ["ablation.csv"], "bench/ablation.py build/situ ../shared bench/ablation.csv"),
    "choices": (choices, ["ablation.csv"], ""),
    "search_choice": (search_choice.table, ["search_choice.csv"],
                      "bench/search_choice.py build/situ ../shared bench/search_choice.csv"),
    "growth": (growth, ["growth.csv"], "bench/growth.py build/situ bench/growth.csv"),
    "nn_speed": (as_it_is, ["nn_speed.csv"], "bench/nn_speed.py build > bench/nn_speed.csv"),
    "splitting_platforms": (as_it_is, ["splitting_platforms.csv"],
                            "bench/splitting.py build/situ --table platforms > bench/splitting_platforms.csv"),
    "papers_exact": claimed("exact", ["ledger.csv", "proofs.csv", "milp_published.csv", "published_periods.csv", "published_calls.csv"]),
    "papers_diviml": claimed("diviml", ["splitting_latency.csv", "splitting_throughput.csv", "splitting_platforms.csv", "splitting_memory.csv",
                                        "servers.csv"]),
    "papers_gdp": claimed("gdp", ["go.csv", "gdp_parts.csv", "gdp_batch.csv", "served_zero_shot.csv", "published_go.csv"]),
    "papers_hsdag": claimed("hsdag", ["hsdag_values.csv", "hsdag_tokens.csv", "hsdag_ablation.csv", "hsdag_groups.csv",
                                      "hsdag_released.csv", "hsdag_outputs.csv"]),
    "stages": (stages, ["stages.csv"], "bench/stages.py build/situ --seconds 20 > bench/stages.csv"),
    "doppler": (as_it_is, ["doppler.csv"], "bench/doppler.py build/situ FOLDER --seconds 60 > bench/doppler.csv"),
    "papers_periods": of_papers(claims.period_table, ["ledger.csv", "published_periods.csv"], "bench/papers.py exact"),
    "papers_calls": of_papers(claims.call_table, ["ledger.csv", "published_calls.csv"], "bench/papers.py exact"),
    "papers_gains": of_papers(claims.gain_table, ["splitting_latency.csv", "splitting_throughput.csv"], "bench/papers.py diviml"),
    "papers_go": of_papers(claims.go_table, ["go.csv", "published_go.csv"], "bench/papers.py gdp --whole"),
}


def markdown(name, texts):
    titles, *rows = TABLES[name][0](*texts)
    lines = ["| " + " | ".join(row) + " |" for row in [titles, *rows]]
    return "\n".join([lines[0], "|" + "-|" * len(titles), *lines[1:]]) + "\n"


def part(root, name, page):
    """What stands between the markers: where the figures come from, and the table."""
    _, files, command = TABLES[name]
    up = "../" * (len(page.parts) - 1)
    first, *others = (f"[bench/{file}]({up}bench/{file})" for file in files)
    made = f", made by\n`{command}`" if command else ""
    source = first + made + "".join(f", {other}" for other in others[:-1]) + "".join(f", and {other}" for other in others[-1:])
    if not made:
        source = textwrap.fill(source, 112, break_on_hyphens=False)
    texts = [(root / "bench" / file).read_text(encoding="utf-8") for file in files]
    return f"From {source}:\n\n{markdown(name, texts)}"


def walk_pages(root, check):
    """Brings the pages up to date, or with `check` tells what is not."""
    wrong, seen = [], []
    for page in [root / "docs/papers.md", *sorted((root / "docs/results").glob("*.md"))]:
        where = page.relative_to(root)

        def renewed(match):
            opening, name, old, end = match.groups()
            if name not in TABLES:
                wrong.append(f"{where}: there is no table {name}")
                return match.group(0)
            seen.append(name)
            new = part(root, name, where)
            if check and new != old:
                wrong.append(f"{where}: table {name} is not what its CSV file says; run bench/tables.py")
            return opening + new + end

        text = page.read_text(encoding="utf-8")
        new_text = MARKED.sub(renewed, text)
        if text.count("<!-- table ") != len(MARKED.findall(text)):
            wrong.append(f"{where}: a marker of a table has no end")
        if not check and new_text != text:
            page.write_text(new_text, encoding="utf-8")
    for name in TABLES:
        if seen.count(name) != 1:
            wrong.append(f"docs: table {name} stands on {seen.count(name)} pages, not one")
    return wrong


def main():
    here = pathlib.Path(__file__).resolve().parent
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("name", nargs="?", choices=TABLES)
    parser.add_argument("csv", nargs="?")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--root", type=pathlib.Path, default=here.parent)
    args = parser.parse_args()
    if args.name:
        texts = [(args.root / "bench" / file).read_text(encoding="utf-8") for file in TABLES[args.name][1]]
        if args.csv:
            texts[0] = pathlib.Path(args.csv).read_text(encoding="utf-8")
        print(markdown(args.name, texts), end="")
        return 0
    wrong = walk_pages(args.root, args.check)
    print("\n".join(wrong) or f"docs: {len(TABLES)} tables are as their CSV files say")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())

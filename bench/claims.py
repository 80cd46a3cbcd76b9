"""What four papers claim, and how it fares here: rows for the tables of docs/papers.md and of bench/papers.py.

A row is a Claim. `ours` reads CSV files and returns the figures as text and whether the verdict still holds with them. It may
raise a KeyError where a file lacks rows, as after a quick run; the cell then says that there is no figure.
"""
import statistics
import typing

from figures import by_workload, geometric_mean, median_ns, records

VERDICTS = ("reproduced", "exceeded", "partly reproduced", "not reproduced", "ruled out", "not testable")


class Claim(typing.NamedTuple):
    what: str
    paper: str    # its value
    known: str    # where that is known from: abstract, code, review, successor, or - where it is not
    ours: typing.Callable
    verdict: str  # one of VERDICTS, and a reason after a colon
    command: str


class Files:
    """The CSV files of a folder, read once."""

    def __init__(self, read):
        self.read, self.kept = read, {}

    def text(self, name):
        if name not in self.kept:
            self.kept[name] = self.read(name)
        return self.kept[name]

    def rows(self, name):
        return records(self.text(name))

    def by(self, name, column):
        return {row[column]: row for row in self.rows(name)}


def said(text, holds=True):
    """A cell that needs no figure."""
    return lambda files: (text, holds)


def near(a, b, relative=5e-5):
    """Equal to the digits that the published figure has."""
    return abs(a - b) <= relative * abs(b)


def whole(share):
    return f"{100 * share:.1f} %"


def against(ratio):
    """1.05 is `5.0 % longer`."""
    if abs(ratio - 1) < 0.0005:
        return "neither longer nor shorter"
    return f"{whole(abs(ratio - 1))} {'longer' if ratio >= 1 else 'shorter'}"


# ---- exact placement ----

PERIODS, CALLS, LEDGER = "published_periods.csv", "published_calls.csv", "ledger.csv"


def periods(files, column, rules, solver):
    """(ours, published) in ms of the workloads that have both."""
    published, found = files.by(PERIODS, "workload"), by_workload(files.text(LEDGER))
    return [(int(found[name][rules, solver]["value_ns"]) / 1e6, float(row[column])) for name, row in published.items()
            if row[column] and (rules, solver) in found.get(name, {})]


def equal_periods(column, rules, solver, least):
    def ours(files):
        pairs = periods(files, column, rules, solver)
        n = sum(near(*pair) for pair in pairs)
        return f"{n} of {len(pairs)} equal", n >= least

    return ours


def proved(rules, solver, folder):
    """How many workloads of the ledger are proved optimal."""
    def ours(files):
        rows = [found[rules, solver] for found in by_workload(files.text(LEDGER)).values() if (rules, solver) in found]
        n = sum(row["value_ns"] == row["bound_ns"] for row in rows)
        return f"{n} of {len(rows)} {folder} proved optimal", n == len(rows) > 0

    return ours


def optimal_splits(files):
    text, holds = proved("contiguous", "ideal_dp", "workloads")(files)
    pairs = periods(files, "dp ms", "contiguous", "ideal_dp")
    n = sum(near(*pair) for pair in pairs)
    return f"{text}; {n} of {len(pairs)} published values equal", holds and n == len(pairs)


def solving_seconds(files):
    rows = files.rows("proofs.csv")
    slowest = max(rows, key=lambda row: float(row["cpu_s"]))
    total = sum(float(row["cpu_s"]) for row in rows)
    return (f"{total:.1f} s for all {len(rows)}, {float(slowest['cpu_s']):.2f} s for the slowest, "
            f"{max(float(row['peak_mb']) for row in rows):.0f} MB", total < 38)


def gpipe(files):
    rows = [row for row in files.rows("proofs.csv") if row["gpipe_ns"]]
    n = sum(row["gpipe_ns"] == row["gpipe_bound_ns"] for row in rows)
    return f"{n} of {len(rows)} training workloads proved optimal", n == len(rows) > 0


MILP = "milp_published.csv"


def integer_program(program):
    """How the engine fares: optima found, those it calls optimal, how much longer the others are, and the seconds of both."""
    def ours(files):
        rows = [row for row in files.rows(MILP) if row["program"] == program]
        ratios = [int(row["value_ns"]) / int(row["optimum_ns"]) for row in rows]
        found = sum(r <= 1 for r in ratios)
        ended = sum(row["ended"] == "1" for row in rows)
        others = [r for r in ratios if r > 1]
        return (f"HiGHS finds the optimum on {found} of {len(rows)} and calls {ended} proved; the others are {min(others):.3g} to "
                f"{max(others):.3g} times as long; {sum(float(row['cpu_s']) for row in rows):.0f} s, the exact solver "
                f"{sum(float(row['exact_s']) for row in rows):.1f} s", min(ratios) >= 1 and ended < len(rows))

    return ours


def ratio_of_periods(column, rules, solver, worst):
    """Ours over published: geometric mean and extremes; holds while no workload is worse than `worst`."""
    def ours(files):
        ratios = [a / b for a, b in periods(files, column, rules, solver)]
        better = sum(r <= 1 + 5e-5 for r in ratios)
        return (f"as short or shorter on {better} of {len(ratios)}; {min(ratios):.3f} to {max(ratios):.3f} of it, "
                f"mean {geometric_mean(ratios):.3f}", max(ratios) <= worst)

    return ours


def pairs_of_calls(files, column, solver, rules="calls"):
    """(ours, published) in ms of the latency inputs; published values that break the memory limit are left out."""
    found = by_workload(files.text(LEDGER))
    return [(int(found[row["workload"]][rules, solver]["value_ns"]) / 1e6, float(row[column])) for row in files.rows(CALLS)
            if row[column] and "OOM" not in row[column] and (rules, solver) in found.get(row["workload"], {})]


def greedy(files):
    pairs = pairs_of_calls(files, "greedy ms", "greedy")
    n = sum(near(*pair) for pair in pairs)
    shorter = [1 - a / b for a, b in pairs if not near(a, b)]
    return f"{n} of {len(pairs)} equal, the others {whole(min(shorter))} to {whole(max(shorter))} shorter", n >= 4 and min(shorter) > 0


def against_optimum(column, rules):
    def ours(files):
        ratios = [b / a for a, b in pairs_of_calls(files, column, "call_dp", rules)]
        return (f"{min(ratios):.2f} to {max(ratios):.2f} times as long as our optimum ({len(ratios)} that keep memory)",
                min(ratios) >= 1 - 5e-5)

    return ours


def broken_memory(files):
    rows = [row for row in files.rows(CALLS) if row["expert ms"]]
    n = sum("OOM" in row["expert ms"] for row in rows)
    return f"{n} of {len(rows)} do not fit, as its code warns", n == 3


PLACE = "situ place FILE --objective throughput "
EXACT = [
    Claim("optimal contiguous splits by dynamic programming (max-load), 16 workloads", "14 of 16; Inception not "
          "finished in 900 s", "code", optimal_splits, "exceeded", PLACE + "--solver ideal_dp"),
    Claim("its running time", "0.1 to 38 s, more than 900 s on Inception", "code", solving_seconds, "exceeded",
          "bench/papers.py exact"),
    Claim("heuristic with one linear order (DPL)", "16 values", "code", equal_periods("dpl ms", "contiguous", "linear_dp (1 order)", 16),
          "reproduced", PLACE + "--solver linear_dp --steps 1"),
    Claim("everything on one accelerator", "16 values", "code", equal_periods("one accelerator ms", "contiguous", "single", 12),
          "reproduced: the other four do not fit, which its code only warns of", PLACE + "--solver single"),
    Claim("PipeDream", "16 values", "code", equal_periods("pipedream ms", "contiguous", "pipedream", 14),
          "reproduced: for the other two its code has exceptions by node number", PLACE + "--solver pipedream"),
    Claim("Scotch", "16 values", "code", ratio_of_periods("scotch ms", "free", "scotch", 1.5),
          "partly reproduced: another version and seed of the library", PLACE + "--free --solver scotch"),
    Claim("human experts, layer graphs", "8 values", "code", equal_periods("expert ms", "free", "expert", 8), "reproduced",
          PLACE + "--free --fix EXPERT"),
    Claim("local search with 10 restarts", "16 values, 2 cut short", "code", ratio_of_periods("local search ms", "free", "steepest_descent", 1.1),
          "reproduced: but for random starts and ties", PLACE + "--free --solver steepest_descent"),
    Claim("our search of free splits against that local search", "16 values", "code",
          ratio_of_periods("local search ms", "free", "free_search", 1.0001), "exceeded",
          PLACE + "--free --solver free_search --steps 20000"),
    Claim("integer program, free splits", "Gurobi: values not known; HiGHS on the same program, 280 s", "code",
          ratio_of_periods("highs ms", "free", "free_search", 1.003), "partly reproduced",
          PLACE + "--free --solver free_search --steps 20000"),
    Claim("integer program, contiguous splits", "Gurobi: values not known", "code",
          integer_program("contiguous"), "partly reproduced: by HiGHS in place of Gurobi", PLACE + "--solver milp --time-limit 100"),
    Claim("GPipe objective (diffmaxima)", "values not known", "code", gpipe, "not testable: no value is known; optima are proved",
          PLACE + "--schedule gpipe --solver ideal_dp"),
    Claim("the same by integer program", "Gurobi: values not known", "code", integer_program("gpipe"),
          "partly reproduced: by HiGHS in place of Gurobi", PLACE + "--schedule gpipe --solver milp --time-limit 100"),
    Claim("latency: integer program, one call per accelerator (q = 1)", "Gurobi: values not known", "code",
          proved("calls1", "call_dp", "inputs"), "exceeded: every optimum is proved", "situ place FILE --calls 1 --solver call_dp"),
    Claim("the same program by HiGHS", "Gurobi: values not known", "code", integer_program("calls1"),
          "partly reproduced: by HiGHS in place of Gurobi", "situ place FILE --calls 1 --solver milp --time-limit 100"),
    Claim("latency: any number of calls", "Gurobi: values not known", "code", proved("calls", "call_dp", "inputs"),
          "exceeded: every optimum is proved", "situ place FILE --execution calls --solver call_dp"),
    Claim("latency: greedy", "8 values", "code", greedy, "reproduced: but for the order of ties",
          "situ place FILE --execution calls --solver greedy"),
    Claim("latency: splits of the dynamic program", "7 values", "code", against_optimum("dp split ms", "calls1"), "exceeded",
          "situ place FILE --calls 1 --solver call_dp"),
    Claim("latency: splits of Scotch", "8 values, 3 out of memory", "code", against_optimum("scotch split ms", "calls"), "exceeded",
          "situ place FILE --execution calls --solver call_dp"),
    Claim("latency: splits of experts", "4 values, 3 out of memory", "code", broken_memory, "reproduced: the warning",
          "situ check EXPERT --model FILE --objective latency"),
]


# ---- DiviML ----

SPLIT, RATE, PLATFORMS = "splitting_latency.csv", "splitting_throughput.csv", "splitting_platforms.csv"
LISTS, BEGUN = ["heft", "peft", "m_etf"], "m_etf,splitting"


def cell_ms(cell):
    """`2.4036 (0.70 s)` is 2.4036; None for a dash."""
    return None if cell.startswith("-") else float(cell.split()[0])


def cell_s(cell):
    return float(cell.split("(")[1].split()[0])


def of_random(rows):
    return [row for row in rows if row["network"].startswith("randwire") and "?" not in row["network"]]


def latency_gain(files):
    rows = files.rows(SPLIT)
    gain = {row["network"]: float(row["fastest GPU"]) / min(filter(None, (cell_ms(row[s]) for s in ("splitting", "auto", *LISTS))))
            for row in rows}
    most = {row["network"]: float(row["fastest GPU"]) / float(row["bound"]) for row in rows}
    best = max(gain, key=gain.get)
    return (f"up to {gain[best]:.2f} times ({best}); at most {max(most.values()):.2f} by the bound, on {len(rows)} networks",
            max(most.values()) < 3)


def other_platforms(files):
    rows = files.rows(PLATFORMS)
    n = sum(float(row["gain at most"]) < 3 for row in rows)
    return (f"up to {max(float(row['gain']) for row in rows):.2f} times; bounds below 3 on {n} of {len(rows)}",
            max(float(row["gain"]) for row in rows) < 3 and n >= 8)


def throughput_gain(files):
    rows = files.rows(RATE)
    gains = [float(row["gain"]) for row in rows]
    most = max(float(row["fastest GPU"]) / float(row["bound"]) for row in rows)
    return f"{min(gains):.2f} to {max(gains):.2f} times; at most {most:.2f} by the bound", 2.85 <= max(gains)


def solver_time(files):
    """How many times as long as splitting milp takes to its value, where it finds one of its own, and where it keeps that of a list."""
    own, none = [], []
    for row in files.rows(SPLIT):
        if cell_ms(row["milp"]) is None or float(row["bound"]) == float(row["best single"]):
            continue
        found = cell_ms(row["milp"]) < min(float(row["best single"]), *(cell_ms(row[s]) for s in LISTS))
        (own if found else none).append(cell_s(row["milp"]) / float(row["as good"].split()[0]))
    text = f"{', '.join(f'{f:.0f}' for f in own)} times where milp finds a plan of its own"
    if none:
        text += f"; {', '.join(f'{f:.0f}' for f in none)} where it finds none better than those of HEFT, its first"
    return text, max(own + none) > 100


def against_lists(files):
    better, begun = {}, {}
    for row in files.rows(SPLIT):
        lists = min(cell_ms(row[s]) for s in LISTS)
        better[row["network"]], begun[row["network"]] = (1 - cell_ms(row[s]) / lists for s in ("splitting", BEGUN))
    most, least = max(better, key=better.get), min(better, key=better.get)
    return (f"{against(1 - better[most])} than the best of HEFT, PEFT and m-ETF ({most}), to {against(1 - better[least])} ({least}); "
            f"begun at m-ETF's plan {against(1 - begun[least])} there, never longer", better[most] < 0.3 and min(begun.values()) >= 0)


def quality_of_splitting(files):
    gaps = [cell_ms(row["splitting"]) / cell_ms(row["milp"]) for row in files.rows(SPLIT) if cell_ms(row["milp"])]
    return f"never longer than the plan of milp on the {len(gaps)} networks that it accepts", max(gaps) <= 1


def own_bound(files):
    rows = files.rows(SPLIT)
    best = [min(filter(None, (cell_ms(row[s]) for s in ("splitting", "auto", "milp", *LISTS)))) for row in rows]
    gaps = [1 - float(row["bound"]) / value for row, value in zip(rows, best)]
    return f"{sum(g <= 0 for g in gaps)} of {len(gaps)} proved optimal, gaps up to {whole(max(gaps))}", True


def copies(files):
    gains = [float(row["fastest GPU"]) / float(row["four copies, by input"]) for row in files.rows(RATE)]
    return f"four inputs, each placed by itself: {min(gains):.2f} to {max(gains):.2f} times the fastest GPU", min(gains) > 1


def tight_memory(files):
    """Splitting against the best of two list schedulers, where GPUs hold the whole network, or an eighth of it."""
    rows, ratios, n_none = files.rows("splitting_memory.csv"), {}, 0
    for row in rows:
        lists = min(filter(None, (cell_ms(row["heft"]), cell_ms(row["m_etf"]))))
        n_none += cell_ms(row["splitting"]) is None
        ratios.setdefault(row["network"], []).append((cell_ms(row["splitting"]) or 0) / lists)
    wide, tight = (geometric_mean([of[i] for of in ratios.values() if of[i]]) for i in (0, -1))
    return (f"on {len(ratios)} networks: {against(wide)} than HEFT and m-ETF where a GPU holds the network, {against(tight)} where it holds an "
            f"eighth; no plan in {n_none} of {len(rows)} cases", n_none <= 1)


def servers(files):
    rows = files.rows("servers.csv")
    return f"{rows[0]['ms']}: {rows[0]['server_dp']}; {rows[2]['ms']}: {rows[2]['server_heft']} (ms, gap)", True


SPLITTING = "bench/splitting.py build/situ --table "
DIVIML = [
    Claim("latency against the fastest GPU alone, one CPU and two unlike GPUs", "more than 3 times lower", "abstract", latency_gain,
          "ruled out: by the bounds, on this platform and these costs", SPLITTING + "latency"),
    Claim("the same, the largest of these networks on nine platforms", "more than 3 times lower", "abstract", other_platforms,
          "not reproduced: found on none", SPLITTING + "platforms"),
    Claim("throughput against the fastest GPU alone", "up to 2.9 times", "abstract", throughput_gain, "reproduced",
          SPLITTING + "throughput"),
    Claim("splitting against the MILP: solver time", "up to 395 times faster", "abstract", solver_time,
          "partly reproduced: the factor depends on when the MILP is stopped", SPLITTING + "latency"),
    Claim("splitting against the MILP: quality", "no noticeable loss", "abstract", quality_of_splitting, "reproduced",
          SPLITTING + "latency"),
    Claim("splitting against all other heuristics", "30 to 60 % better", "abstract", against_lists, "not reproduced",
          SPLITTING + "latency"),
    Claim("a lower bound formula for the optimum", "formula not known", "-", own_bound,
          "not testable: our bounds, not the paper's", SPLITTING + "latency"),
    Claim("data and model parallelism together", "part of the 3 and 2.9 times", "abstract", copies, "not testable: no separate value is known",
          "situ place MODEL --platform cpu+v100-16g+p100-16g --copies 4"),
    Claim("language models over several unlike servers, by symmetry", "values not known", "-", servers,
          "not testable: no value is known", "bench/servers.py build/situ"),
    Claim("memory-constrained placement (the thesis)", "values not known", "-", tight_memory, "not testable: no value is known",
          SPLITTING + "memory"),
    Claim("names of devices and networks, tables, figures", "not known", "-", said("-"), "not testable: the text was not available",
          "bench/papers.py diviml"),
]


# ---- GDP ----

GO, PUBLISHED_GO, PARTS, ZERO, MANY = "go.csv", "published_go.csv", "gdp_parts.csv", "served_zero_shot.csv", "gdp_batch.csv"


def steps_ns(files):
    """{(network, row): the median over seeds}, and the highest bound of each network."""
    found, bound = {}, {}
    for row in files.rows(GO):
        found.setdefault((row["title"], row["row"]), []).append(row)
        if row["row"] != "expert":  # that one has pins
            bound[row["title"]] = max(bound.get(row["title"], 0), int(row["bound_ns"]))
    return {key: median_ns(of) for key, of in found.items()}, bound


def over(files, other, row):
    """How many times as long the plans of `other` take as those of `row`, on each network that has both."""
    values, bound = steps_ns(files)
    ratios = {title: values[title, other] / values[title, row] for title in bound if values.get((title, other)) and values.get((title, row))}
    if not ratios:
        raise KeyError(row)
    return ratios


def mean_over(files, other, row):
    return geometric_mean(list(over(files, other, row).values()))


def of_networks(files, other, row):
    return f"({len(over(files, other, row))} networks)"


def against_human(files):
    ratio = mean_over(files, "expert", "gdp-one")
    return f"from scratch {against(1 / ratio)} than human layouts {of_networks(files, 'expert', 'gdp-one')}", ratio < 1


def served_against_human(files):
    ratios = over(files, "expert", "gdp-zero")
    layouts = sum(ratio == 1 for ratio in ratios.values())
    learned = geometric_mean([ratio for ratio in ratios.values() if ratio != 1])
    return (f"human plans take {geometric_mean(list(ratios.values())):.2f} times as long; {layouts} of {len(ratios)} plans are the human layout "
            f"itself, {learned:.2f} times on the others", geometric_mean(list(ratios.values())) < 1.16)


def against_hdp(files):
    ratio = mean_over(files, "hdp", "gdp-one")
    return f"plans of HDP take {ratio:.3f} times as long, both with 1,500 evaluations {of_networks(files, 'hdp', 'gdp-one')}", ratio > 1.092


def fewer_evaluations(files):
    ratio = mean_over(files, "hdp", "gdp-100")
    return (f"with a fifteenth of the evaluations, plans {against(1 / ratio)} than those of HDP "
            f"{of_networks(files, 'hdp', 'gdp-100')}", 0.98 <= ratio)


def largest(files):
    values, _ = steps_ns(files)
    name = "GNMT, 8 layers"
    zero, expert, scratch = (values[name, row] / 1e6 for row in ("gdp-zero", "expert", "gdp-one"))
    return f"51,419 operators: served {zero:.4g} ms, which is the human layout ({expert:.4g}); from scratch {scratch:.4g}", zero == expert


def one_policy_for_all(files):
    ratio = mean_over(files, "gdp-one", "gdp-batch")
    return f"plans {against(1 / ratio)} than with one policy for each {of_networks(files, 'gdp-one', 'gdp-batch')}", True


def batch_over_each(files, row, than="each"):
    """Geometric means over the networks of values over the median of `than`: one for each seed, and the evaluations of a network."""
    values, seeds = {}, {}
    for r in files.rows(MANY):
        values.setdefault((r["title"], r["row"]), []).append(r)
        if r["row"] == row:
            seeds.setdefault(r["seed"], {})[r["title"]] = int(r["value_ns"])
    whole_of = max(len(of) for of in seeds.values())
    return sorted(geometric_mean([value / median_ns(values[title, than]) for title, value in of.items()])
                  for of in seeds.values() if len(of) == whole_of)


def tuned_batch(files):
    ratios = batch_over_each(files, "batch, fine-tuned", "each, as many")
    networks = len({r["title"] for r in files.rows(MANY) if r["row"] == "batch, fine-tuned"})
    return (f"{against(statistics.median(ratios))} than one policy for each with as many evaluations ({100 * min(ratios) - 100:+.1f} to "
            f"{100 * max(ratios) - 100:+.1f} %, {len(ratios)} seeds, {networks} networks)", 0.95 < statistics.median(ratios) < 1.05)


def batch_parts(files):
    def said_of(row):
        ratios = [statistics.median(batch_over_each(files, row + end)) for end in ("", ", fine-tuned")]
        base = [statistics.median(batch_over_each(files, "batch" + end)) for end in ("", ", fine-tuned")]
        return " and ".join(f"{100 * a / b - 100:+.1f} %" for a, b in zip(ratios, base))

    return (f"without superposition {said_of('batch, no superposition')}, four segments {said_of('batch, four segments')}, memory still "
            f"{said_of('batch, four segments, memory still')} (before and after fine-tuning)", True)


def zero_shot(files):
    found = {}
    for row in files.rows(ZERO):
        if row["kind"] == "held out":
            found.setdefault(row["row"], []).append(int(row["value_ns"]) / int(row["single_ns"]))
    served, untrained, heft = (geometric_mean(found[row]) for row in ("served", "untrained", "heft"))
    return (f"{served:.3f} of the best device on {len(found['served'])} networks of unseen families; untrained {untrained:.3f}, "
            f"HEFT {heft:.3f}", served < heft)


def parts(files):
    found = {}
    for row in files.rows(PARTS):
        found.setdefault(row["row"], {}).setdefault(row["network"], []).append(int(row["value_ns"]))

    def ratios(row):
        whole_of = {name: statistics.median(of) for name, of in found["as it is, 64 groups"].items()}
        return [statistics.median(of) / whole_of[name] for name, of in found[row].items()]
    without, gate = ratios("without attention"), ratios("without superposition")
    return (f"without attention {min(without):.2f} to {max(without):.2f} times as long, without superposition {min(gate):.2f} to "
            f"{max(gate):.2f}; seeds differ more", True)


def human_near_bound(files):
    values, bound = steps_ns(files)
    room = {title: values[title, "expert"] / bound[title] - 1 for title in bound
            if title.startswith(("RNNLM", "GNMT")) and (title, "expert") in values}
    near_ones = [share for share in room.values() if share < 0.011]
    if not near_ones:
        raise KeyError("RNNLM")
    return (f"bounds leave {whole(min(near_ones))} to {whole(max(near_ones))} to gain over the human layout on {len(near_ones)} of "
            f"{len(room)}", len(near_ones) >= 3)


def successor(column, holds):
    def ours(files):
        published = files.by(PUBLISHED_GO, "title")
        theirs = geometric_mean([float(row[column]) / float(row["go s"]) for row in published.values()])
        other = {"human s": "expert", "hdp s": "hdp"}[column]
        best = mean_over(files, other, "gdp-zero")
        return (f"the served policy {whole(1 - 1 / best)} {of_networks(files, other, 'gdp-zero')}; theirs, by the same geometric mean, "
                f"{whole(1 - 1 / theirs)}", holds(best, theirs))

    return ours


def workloads(files):
    return f"{len({row['title'] for row in files.rows(GO)})} of {len(files.rows(PUBLISHED_GO))} training steps", True


LEARNED = "bench/learned.py build/situ go.csv "
GDP = [
    Claim("run time against human experts", "16 % better on average", "abstract", against_human, "not reproduced",
          LEARNED + "expert gdp-one"),
    Claim("the same, served by a policy trained on other graphs", "not known", "-", served_against_human,
          "partly reproduced: mostly by layouts and search", LEARNED + "expert gdp-zero"),
    Claim("run time against the prior art (HDP)", "9.2 % better on average", "abstract", against_hdp, "reproduced",
          LEARNED + "hdp gdp-one"),
    Claim("convergence against HDP", "15 times faster", "abstract", fewer_evaluations, "reproduced: to within 2 %", LEARNED + "hdp gdp-100"),
    Claim("held-out graphs of over 50,000 nodes, such as 8-layer GNMT", "state of the art", "abstract", largest,
          "not reproduced: the plan served is the human one", LEARNED + "expert gdp-zero gdp-one"),
    Claim("one policy for many graphs (GDP-batch)", "values not known", "-", one_policy_for_all, "not testable: no value is known",
          LEARNED + "gdp-one gdp-batch"),
    Claim("the same, then fine-tuned on each for 50 steps", "values not known", "-", tuned_batch, "not testable: no value is known",
          "bench/gdp_batch.py build/situ batch.csv"),
    Claim("superposition and segments, in one policy for many graphs", "values not known", "-", batch_parts,
          "not testable: no value is known", "bench/gdp_batch.py build/situ batch.csv"),
    Claim("zero-shot on held-out graphs", "values not known", "-", zero_shot, "not testable: no value is known",
          "bench/served.py build/situ zero.csv --table zero_shot"),
    Claim("what attention and superposition are worth", "values not known", "-", parts, "not testable: no value is known",
          "bench/gdp_parts.py build/situ parts.csv"),
    Claim("workloads: RNNLM, GNMT, Transformer-XL, Inception, AmoebaNet, WaveNet on 2 to 8 P100", "14", "successor", workloads,
          "reproduced: built in, unrolled as in the papers", LEARNED + "single"),
    Claim("GO, the successor: against human experts", "20.5 % less time", "successor", successor("human s", lambda best, theirs: best < theirs), "not reproduced",
          LEARNED + "expert gdp-zero"),
    Claim("GO: against HDP", "18.2 % less time", "successor", successor("hdp s", lambda best, theirs: best > theirs), "exceeded", LEARNED + "hdp gdp-zero"),
    Claim("GO: gains on RNNLM and GNMT over human layouts", "3.8 to 34 %", "successor", human_near_bound,
          "ruled out: by the bounds, on our costs", LEARNED + "expert auto"),
]


# ---- HSDAG ----

VALUES, TOKENS, ABLATION, GROUPS = "hsdag_values.csv", "hsdag_tokens.csv", "hsdag_ablation.csv", "hsdag_groups.csv"
OURS, PAPER, CPU, GPU = "HSDAG, ours", "HSDAG `--paper`, one level", "CPU-only", "GPU-only, also HETERO:GPU,CPU"
PAPER_LOOP = "HSDAG `--paper`, parsing to the end"


def latencies(files, name=VALUES):
    """{(model, row): the median over seeds}, of 500 trials where a row learns."""
    found = {}
    for row in files.rows(name):
        if row["trials asked"] in ("", "500"):
            found.setdefault((row["model"], row["row"]), []).append(row)
    return {key: median_ns(of) for key, of in found.items()}


def below_cpu(model, name=VALUES):
    """Holds while GPU-only has most of the gain."""
    def ours(files):
        values = latencies(files, name)
        less = {row: 1 - values[model, row] / values[model, CPU] for row in (OURS, PAPER, GPU)}
        return f"{whole(less[OURS])}, as published {whole(less[PAPER])}; GPU-only {whole(less[GPU])}", less[GPU] > 0.8 * less[OURS]

    return ours


def against_baselines(files):
    """The largest gain over any baseline that the paper has, too."""
    values = latencies(files)
    rows = [row for row in (CPU, GPU, "placeto", "rnn_placer") if any(r == row for _, r in values)]
    gain = {(m, row): 1 - values[m, OURS] / values[m, row] for m in {m for m, r in values if r == OURS} for row in rows}
    model, row = max(gain, key=gain.get)
    return f"up to {whole(gain[model, row])} less ({model.removeprefix('builtin:')}, {row})", True


def against_heft(files):
    values = latencies(files)
    models = sorted({model for model, row in values if row == PAPER})
    n = {row: sum(values[m, row] < values[m, "heft"] for m in models) for row in (OURS, PAPER)}
    return f"better than HEFT on {n[OURS]} of {len(models)}, as published on {n[PAPER]}", n[PAPER] <= 1


def same_groups(files):
    pairs = [(int(row["that hold an operator"]), int(row["groups"])) for row in files.rows(GROUPS)]
    return ", ".join(f"{b} of {a}" for a, b in pairs) + " groups", all(a - b <= 1 for a, b in pairs)


def clusters(files):
    found = {}
    for row in files.rows(VALUES):
        if row["groups"] and row["trials asked"] == "500":
            found.setdefault(row["row"], []).append(int(row["groups"]))
    ending = [int(row["groups"]) for row in files.rows(VALUES) if row["row"].endswith("parsing to the end") and "_i8" not in row["model"]]
    return (f"the released loop leaves {min(ending)} to {max(ending)} on connected graphs, one level {min(found[PAPER])} to "
            f"{max(found[PAPER])}", max(ending) < 10)


def features(files):
    values = latencies(files, ABLATION)
    model = "inception_v3_i8.xml"
    lost = {row: values[m, row] / values[m, "all features"] - 1 for m, row in values if m == model and row.startswith("without")}
    worst = max(lost, key=lost.get)
    return f"{worst} costs most, {whole(lost[worst])}; without shape {whole(lost['without shape'])}", worst != "without shape"


def rivals(files):
    values = latencies(files)
    models = sorted({model for model, row in values if row == OURS})
    level = sum(values[m, OURS] <= 1.0005 * min(values[m, row] for row in ("placeto", "rnn_placer")) for m in models)
    return f"as good as or better than placeto and rnn_placer on {level} of {len(models)}", level >= len(models) - 1


def training_seconds(files):
    rows = [float(row["cpu_s"]) for row in files.rows(VALUES) if row["row"] == PAPER and row["trials asked"] == "500"]
    if not rows:
        raise KeyError(PAPER)
    return f"{min(rows):.1f} to {max(rows):.1f} s for 500 trials, each a simulation", True


def released(files):
    """The public code run on our rewards, against the published recipe of ours that parses to the end."""
    values, found = latencies(files), {}
    for row in files.rows("hsdag_released.csv"):
        found.setdefault(row["model"], []).append(row)
    rejected = [100 * int(row["rejected"]) / int(row["trials"]) for of in found.values() for row in of]
    ratios = [values[m, PAPER_LOOP] / median_ns(of) for m, of in found.items() if (m, PAPER_LOOP) in values]
    return (f"rejects {min(rejected):.0f} to {max(rejected):.0f} % of its trials; our loop's best plans take {min(ratios):.2f} to "
            f"{max(ratios):.2f} times as long as its ({len(ratios)} models)", 0.97 < min(ratios) and max(ratios) < 1.03)


def outputs(files):
    """How much the outputs of a network change when it is cut by a placement."""
    rows = files.rows("hsdag_outputs.csv")
    worst = max(float(row["relative difference"]) for row in rows)
    return (f"outputs of cut and whole network differ by {worst:.1g} at most, on {len({row['model'] for row in rows})} networks, "
            f"{len({row['engine'] for row in rows})} engines, {min(int(row['parts']) for row in rows)} to "
            f"{max(int(row['parts']) for row in rows)} parts", worst < 1e-3)


def rejected_trials(files):
    """Shares of trials on one device, with constants as nodes and without."""
    share = {}
    for row in files.rows(VALUES):
        if row["row"] in (PAPER_LOOP, PAPER_LOOP + ", no constants") and "_i8" not in row["model"]:
            share.setdefault(row["row"], []).append(100 - 100 * int(row["trials"]) / int(row["trials asked"]))
    with_them, without = share[PAPER_LOOP], share[PAPER_LOOP + ", no constants"]
    return (f"{min(with_them):.0f} to {max(with_them):.0f} % rejected on connected graphs; without constants {min(without):.0f} to "
            f"{max(without):.0f} %", min(with_them) < min(without))


TABLE = "bench/hsdag.py build/situ values.csv --table values builtin:"
HSDAG = [
    Claim("latency against CPU-only, Inception-V3", "17.9 % less", "review", below_cpu("builtin:inception-v3"),
          "not testable: here GPU-only alone gains most of it", TABLE + "inception-v3"),
    Claim("latency against CPU-only, ResNet-50", "52.1 % less", "review", below_cpu("builtin:resnet50"),
          "not testable: here GPU-only alone gains as much", TABLE + "resnet50"),
    Claim("latency against CPU-only, BERT, the released sentence of 8 tokens", "58.2 % less", "abstract",
          below_cpu("builtin:bert-base?seq=8", TOKENS), "not testable: here GPU-only alone gains nearly as much", TABLE + "bert-base?seq=8"),
    Claim("the same with 128 tokens", "not known", "-", below_cpu("builtin:bert-base"), "not testable: here GPU-only alone gains as much",
          TABLE + "bert-base"),
    Claim("against other common baselines", "up to 60.24 % less", "abstract", against_baselines,
          "not testable: for which model and baseline is not known", TABLE + "bert-base"),
    Claim("against a list scheduler, which the paper does not have", "-", "-", against_heft,
          "not reproduced: as published it is behind HEFT everywhere", TABLE + "inception-v3"),
    Claim("baselines Placeto and RNN", "values not known", "-", rivals, "not testable: no value is known", TABLE + "inception-v3"),
    Claim("baselines OpenVINO-CPU and OpenVINO-GPU", "values not known", "-",
          said("HETERO takes the first device that supports an operator: CPU-only and GPU-only"), "not testable: no value is known",
          TABLE + "resnet50"),
    Claim("coarsening by colocation", "rule of the released code", "code", same_groups, "reproduced",
          "bench/hsdag.py build/situ groups.csv --table groups --data FOLDER"),
    Claim("parsing into an unspecified number of groups", "246 and 768 groups before parsing", "code", clusters,
          "ruled out: its loop makes one cluster of every connected graph, but for dropout",
          "situ learn hsdag MODEL --paper --variant levels=0"),
    Claim("the released code itself, on our rewards", "-", "code", released, "reproduced: to within 3 %",
          "bench/hsdag_released.py CLONE released.csv --data FOLDER"),
    Claim("constants are nodes", "rule of the released code", "code", rejected_trials, "reproduced",
          "situ learn hsdag MODEL --paper --variant levels=0,constants=0"),
    Claim("networks", "141,076 parameters at 17 features", "code", said("141,076 (tested)"), "reproduced",
          "situ learn hsdag MODEL --paper"),
    Claim("ablation: output shape and node number matter most", "Inception-V3 falls from 17.9 to 8.59 %", "review", features,
          "not reproduced", "bench/hsdag.py build/situ ablation.csv --table ablation --data FOLDER"),
    Claim("training time", "values not known", "-", training_seconds, "not testable: its trials are measured, ours simulated",
          TABLE + "inception-v3"),
    Claim("accuracy does not depend on the placement", "unchanged", "review", outputs,
          "reproduced: for outputs, with random weights; both devices are the processor here", "bench/hsdag_outputs.py build/situ outputs.csv"),
    Claim("its three IR files (1,009 nodes for BERT)", "not public", "review", said("built-in networks, and two INT8 builds of the same"),
          "not testable", "bench/papers.py hsdag"),
]

PAPERS = {"exact": EXACT, "diviml": DIVIML, "gdp": GDP, "hsdag": HSDAG}


def cells(claim, files):
    """The figures of a claim, and whether its verdict holds with them; (None, True) where files lack rows."""
    try:
        return claim.ours(files)
    except (KeyError, FileNotFoundError):
        return None, True


def table(paper, files):
    rows = [["claim", "the paper", "known from", "here", "verdict", "command"]]
    for claim in PAPERS[paper]:
        ours, _ = cells(claim, files)
        rows.append([claim.what, claim.paper, claim.known, ours or "no figure yet", bold(claim.verdict), f"`{claim.command}`"])
    return rows


def bold(verdict):
    word, colon, reason = verdict.partition(":")
    return f"**{word}**{colon}{reason}"


# ---- the details ----

def period_table(files):
    """The whole result table of the public code, ours after each value where it differs."""
    columns = [("dp ms", "contiguous", "ideal_dp"), ("dpl ms", "contiguous", "linear_dp (1 order)"), ("one accelerator ms", "contiguous", "single"),
               ("pipedream ms", "contiguous", "pipedream"), ("scotch ms", "free", "scotch"), ("expert ms", "free", "expert")]
    rows = [["workload", "optimum", "DPL", "one accelerator", "PipeDream", "Scotch", "expert", "local search", "HiGHS, free",
             "free_search"]]
    found = by_workload(files.text(LEDGER))
    for name, row in files.by(PERIODS, "workload").items():
        line = [name]
        for column, rules, solver in columns:
            ours = found[name].get((rules, solver))
            ours = f"{int(ours['value_ns']) / 1e6:.6g}" if ours else ""
            published = f"{float(row[column]):.6g}" if row[column] else "-" if ours else ""
            line.append(published if published == ours or ours and published not in ("", "-") and near(float(ours), float(published))
                        else f"{published} / {ours}")
        cut = "" if row["restarts"] == "10" else f" ({row['restarts']} of 10)"
        descent, search = (int(found[name]["free", solver]["value_ns"]) / 1e6 for solver in ("steepest_descent", "free_search"))
        line += [f"{float(row['local search ms']):.6g}{cut} / {descent:.6g}", f"{float(row['highs ms']):.6g}", f"{search:.6g}"]
        rows.append(line)
    return rows


def call_table(files):
    rows = [["workload", "greedy", "split of DP", "of DPL", "of Scotch", "of experts", "our greedy", "our optimum, q = 1", "any q"]]
    found = by_workload(files.text(LEDGER))
    for row in files.rows(CALLS):
        ours = [found[row["workload"]].get(cell) for cell in (("calls", "greedy"), ("calls1", "call_dp"), ("calls", "call_dp"))]
        rows.append([row["workload"], *(row[c] for c in ("greedy ms", "dp split ms", "dpl split ms", "scotch split ms", "expert ms")),
                     *(f"{int(o['value_ns']) / 1e6:.7g}" if o else "-" for o in ours)])
    return rows


def go_table(files):
    values, bound = steps_ns(files)
    rows = [["training step (GPUs)", "human / GO", "human / gdp-one", "human / gdp-zero", "human / bound", "HDP / GO", "HDP / gdp-one"]]

    def ratio(title, other, row):
        below = bound[title] if row == "bound" else values[title, row]
        return f"{values[title, other] / below:.3f}" + (" layout" if values[title, other] == below else "")

    for row in files.rows(PUBLISHED_GO):
        title, go = row["title"], float(row["go s"])
        rows.append([f"{title} ({row['gpus']})", f"{float(row['human s']) / go:.3f}", ratio(title, "expert", "gdp-one"),
                     ratio(title, "expert", "gdp-zero"), ratio(title, "expert", "bound"), f"{float(row['hdp s']) / go:.3f}",
                     ratio(title, "hdp", "gdp-one")])
    return rows


def gain_table(files):
    rate = files.by(RATE, "network")
    rows = [["network", "latency: gain", "at most", "throughput: gain", "at most", "splitting over the best list scheduler"]]
    for row in files.rows(SPLIT):
        gpu, other = float(row["fastest GPU"]), rate[row["network"]]
        best = min(filter(None, (cell_ms(row[s]) for s in ("splitting", "milp", "auto", *LISTS))))
        lists = min(cell_ms(row[s]) for s in LISTS)
        rows.append([row["network"], f"{gpu / best:.2f}", f"{gpu / float(row['bound']):.2f}", other["gain"],
                     f"{float(other['fastest GPU']) / float(other['bound']):.2f}", f"{cell_ms(row['splitting']) / lists:.2f}"])
    return rows

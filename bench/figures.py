"""Figures out of the CSV files of this folder, for the tables of pages and for the claims of papers."""
import csv
import io
import math
import statistics


def records(text):
    return list(csv.DictReader(io.StringIO(text)))


def ms(nanoseconds, form):
    return format(int(nanoseconds) / 1e6, form) if nanoseconds else ""


def geometric_mean(ratios):
    return math.exp(sum(map(math.log, ratios)) / len(ratios)) if ratios else math.nan


def by_workload(text):
    """The ledger as {workload: {(rules, solver): row}}; linear_dp with one step is that of the published order."""
    found = {}
    for row in records(text):
        solver = row["solver"] + (" (1 order)" if row["steps"] == "1" else "")
        found.setdefault(row["instance"], {})[row["rules"], solver] = row
    return found


def values_ns(of):
    return sorted(int(r["value_ns"]) for r in of if r["value_ns"])


def median_ns(of):
    """The median of the values of all seeds, 0 where there is none."""
    values = values_ns(of)
    return statistics.median(values) if values else 0


def extent(numbers):
    return str(min(numbers)) if min(numbers) == max(numbers) else f"{min(numbers)} to {max(numbers)}"

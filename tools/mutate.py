#!/usr/bin/env python3
"""Mutation testing: makes small changes of C source, one at a time, and sees whether a test fails.

    tools/mutate.py [--sample N] [--seed S] [-o FILE.csv] PATH...   judge changes of these files or folders of src/
    tools/mutate.py --list FILE.csv                                 the changes that no test noticed, as diffs
    tools/mutate.py --score FILE.csv                                the table for docs/testing.md

A change is compiled by itself, linked in front of the library of a finished build, and the test programs that PROGRAMS
names for its file run until one fails. Results go to the CSV file row by row; a run with the same file goes on where it
stopped, and --again SURVIVED judges those rows anew. docs/testing.md says how to read the outcome.
"""
import argparse
import csv
import difflib
import hashlib
import json
import os
import pathlib
import random
import re
import resource
import shlex
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor

ROOT = pathlib.Path(__file__).resolve().parents[1]
EQUIVALENT = ROOT / "tools" / "equivalent_mutants.txt"
COLUMNS = ["id", "file", "line", "function", "kind", "change", "outcome", "by", "seconds"]
MEMORY_BYTES = 4 << 30
ARENA = "src/base/arena.c"
GUARD = ["-DSITU_ARENA_DEBUG", "-fsanitize=address,undefined"]
WAIT = 20  # a test that neither computes nor ends is waited for so many times its limit of CPU time

# Which tests, by their names in `meson test`, judge which files; the quick ones first. The first row that fits is taken.
JUDGE = ["rules", "check", "second-judge"]
PROOFS = ["certificate-rules", "certificate", "check-fields", "oracle-forged_certificates", "second-judge-of-proofs"]
BOUND = ["exact-check", "bound-allocation", "bound-strength", "bound-edges"]
PROGRAMS = [
    ("src/check/check_(cut_vertex|block)", PROOFS + ["oracle-certificates"]),
    ("src/check/check_visit_labels", ["certificate-rules", "certificate", "visit-labels", "oracle-certificates"]),
    ("src/check/check_overlap", JUDGE + ["overlap"]),
    ("src/check/check_stages", ["stages"]),
    ("src/check/check_recomputed", JUDGE + ["recompute", "oracle-micro_batches"]),
    ("src/check/check_memory_cut", PROOFS + ["oracle-min_cut"]),
    ("src/check/check_side_cut", PROOFS + ["oracle-side_cut"]),
    ("src/check/check_unit_chain", PROOFS + ["unit-chain", "branch-chain"]),
    ("src/check/check_(stream|memory|calls|single)", JUDGE),
    ("src/check/check_pipeline", JUDGE + ["replicas"]),
    ("src/check/check_linear_relaxation", PROOFS + ["linear-relaxation", "oracle-certificates"]),
    ("src/check/check_joins", PROOFS + ["joins", "oracle-certificates"]),
    ("src/check/check_alive", ["alive", "certificate", "certificate-rules", "oracle-certain", "second-judge-of-proofs"]),
    ("src/check/check_runs", ["runs", "certificate", "second-judge-of-proofs", "oracle-certificates"]),
    ("src/check/check_packing", ["check-packing", "certificate", "second-judge-of-proofs", "oracle-packing"]),
    ("src/check/check_claims", ["check-claims", "claims"]),
    ("src/check/check_area_price", PROOFS + ["alive", "oracle-certificates"]),
    ("src/check/check_items", PROOFS + ["runs", "oracle-certificates"]),
    ("src/check/check_prices", PROOFS + ["oracle-min_cut", "oracle-side_cut", "alive", "oracle-certificates"]),
    ("src/check/check_fields", ["check-fields", "certificate", "certificate-rules", "oracle-forged_certificates"]),
    ("src/check/check_", PROOFS + ["oracle-certificates"]),
    ("src/check/", ["check-claims", "check-fields", "arguments-why"] + JUDGE + PROOFS),
    ("src/sim/engine_parts", ["engine-parts", "handover-search", "robust"]),
    ("src/sim/stream", ["simulate", "overlap", "stream", "stream-base", "dispatch", "check", "rules", "second-judge", "report"]),
    ("src/sim/calls", ["simulate", "calls", "check", "rules", "second-judge"]),
    ("src/sim/pipeline", ["simulate", "pipeline", "check", "rules", "second-judge"]),
    ("src/sim/", ["simulate", "stream", "stream-base", "calls", "pipeline", "check", "rules", "second-judge", "dispatch"]),
    ("src/problem/", ["problem-check", "problem", "rules", "api", "check", "pipeline", "plan_json", "second-judge", "second-judge-of-proofs"]),
    ("src/exact/call_", BOUND + ["certificate-rules", "call-lattice", "call-dp", "bounds", "oracle-call_optimum"]),
    ("src/(bound/configuration|exact/(shares|sweep))", BOUND + ["configuration"]),
    ("src/(bound/(visit|area)|chain/visit)", BOUND + ["certificate-rules", "oracle-bound_strength", "visit-labels", "bounds", "oracle-certificates"]),
    ("src/bound/(linear|latency)", BOUND + ["certificate-rules", "oracle-bound_strength", "linear-relaxation"]),
    ("src/exact/(block|thin)", BOUND + ["thin-blocks", "certificate-rules", "oracle-bound_strength", "block-list", "block-search", "bounds", "oracle-certificates"]),
    ("src/bound/destructive", BOUND + ["destructive", "certificate-rules", "oracle-bound_strength", "bounds"]),
    ("src/bound/alive", ["alive"] + BOUND + ["oracle-certain"]),
    ("src/bound/runs", ["runs"] + BOUND + ["certificate-rules", "oracle-certificates"]),
    ("src/bound/packing", BOUND + ["packing", "oracle-packing"]),
    ("src/(bound/unit|chain/branch)_chain", BOUND + ["certificate-rules", "unit-chain", "branch-chain", "bounds", "chain-labels", "priced-chain", "oracle-bound_strength", "oracle-certificates"]),
    ("src/chain/chain", BOUND + ["chain", "server-dp", "handover-search", "runs", "whole-layers", "solve-check"]),
    ("src/bound/memory_cut", BOUND + ["certificate-rules", "oracle-min_cut", "bounds", "oracle-certificates"]),
    ("src/bound/side_cut", BOUND + ["certificate-rules", "oracle-side_cut", "bounds", "oracle-certificates"]),
    ("src/bound/join", BOUND + ["certificate-rules", "oracle-bound_strength", "joins", "bounds"]),
    ("src/bound/", BOUND + ["certificate-rules", "oracle-bound_strength", "bounds", "largest", "oracle-certificates"]),
    ("src/solve/calls/call_labels", ["call-dp", "oracle-call_optimum"]),
    ("src/solve/pipeline/boundary_ranges", ["boundary-ranges", "oracle-ideal_bounds"]),
    ("src/api/instance_json", ["api"]),
    ("src/read/ir", ["read-ir-shapes", "read-openvino", "ir-parts"]),
    ("src/read/(onnx|assume|net)", ["read-assume", "read-onnx", "read-onnx-files", "onnx-parts", "read-openvino"]),
]

# ---- C as tokens ----

TOKEN = re.compile(
    r"(?P<skip>/\*.*?\*/|//[^\n]*|\s+|^[ \t]*\#(?:[^\n]|\\\n)*)"
    r"|(?P<text>\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])*')"
    r"|(?P<number>(?:0[xX][0-9a-fA-F]+|\d+\.?\d*(?:[eE][+-]?\d+)?)[uUlLfF]*)"
    r"|(?P<name>[A-Za-z_]\w*)"
    r"|(?P<mark>->|\+\+|--|<<=|>>=|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&|^]=|\.\.\.|.)",
    re.S | re.M)
PAIRS = {"(": ")", "[": "]", "{": "}"}
CLOSE = {v: k for k, v in PAIRS.items()}


class Token:
    __slots__ = ("kind", "text", "start", "end", "match")

    def __init__(self, kind, text, start, end):
        self.kind, self.text, self.start, self.end, self.match = kind, text, start, end, None


def tokens_of(source):
    tokens, opened = [], []
    for m in TOKEN.finditer(source):
        if m.lastgroup == "skip":
            continue
        t = Token(m.lastgroup, m.group(), m.start(), m.end())
        if t.text in PAIRS:
            opened.append(len(tokens))
        elif t.text in CLOSE and opened:
            t.match = opened.pop()
            tokens[t.match].match = len(tokens)
        tokens.append(t)
    return tokens


def functions_of(tokens):
    """(name, first token of the body, its last, whether it returns bool)"""
    i = 0
    while i < len(tokens):
        t = tokens[i]
        if t.text == "{" and t.match is not None:
            if i > 0 and tokens[i - 1].text == ")" and tokens[i - 1].match:
                head = tokens[i - 1].match - 1
                before = [x.text for x in tokens[max(0, head - 3):head]]
                yield tokens[head].text, i, t.match, "bool" in before
            i = t.match
        i += 1


# ---- changes ----

RELATIONS = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "=="}
ARITHMETIC = {"+": "-", "-": "+", "*": "/", "/": "*", "%": "/", "+=": "-=", "-=": "+=", "++": "--", "--": "++", "<<": ">>",
              ">>": "<<", "&": "|", "|": "&", "|=": "=", "&=": "="}
NAMES = [("min64", "max64"), ("start_ns", "finish_ns"), ("in_start", "out_start"), ("in_ns", "out_ns"), ("head", "tail"),
         ("from", "to"), ("first", "last"), ("before", "behind"), ("came_ns", "left_ns"), ("true", "false"),
         ("home", "to"), ("latency_ns", "period_ns"), ("max_period_ns", "max_latency_ns"), ("u", "w"), ("a", "b")]
PARTNERS = {}
for one, other in NAMES:
    PARTNERS.setdefault(one, []).append(other)
    PARTNERS.setdefault(other, []).append(one)
FOLDS = {"max64", "min64", "sat_add"}
BEFORE_OPERAND = {"(", "[", "{", ",", ";", "?", ":", "=", "return", "&&", "||", "==", "!=", "<", ">", "<=", ">=", "+", "-",
                  "*", "/", "%", "&", "|", "!", "+=", "-=", "|=", "&=", "case", "}"}
# A dropped contract changes no result: every caller keeps it.
CONTRACTS = re.compile(r"(REQUIRE|ENSURE|CONTRACT)\(")
# Only a test that runs out of memory notices these; tests/fault does that for all of the library.
OF_MEMORY = re.compile(r"fail_no_memory|arena_(free|release)|\b\w*free\(|ARENA_|arena_new")


class Finder:
    """All changes of one file, as (start, end, new text, kind, function)."""

    def __init__(self, source):
        self.source, self.tokens, self.found = source, tokens_of(source), []
        for self.function, first, last, self.returns_bool in functions_of(self.tokens):
            names = {t.text for t in self.tokens[first:last]}
            for i in range(first + 1, last):
                self.look_at(i, names)

    def text(self, first, last):
        return self.source[self.tokens[first].start:self.tokens[last].end]

    def add(self, first, last, new, kind):
        self.found.append((self.tokens[first].start, self.tokens[last].end, new, kind, self.function))

    def edge(self, i, step, stops):
        """The last token, going from i, before one of `stops` outside of brackets."""
        pairs = PAIRS if step > 0 else CLOSE
        while True:
            t = self.tokens[i]
            if t.text in pairs:
                i = t.match
            nxt = self.tokens[i + step].text
            if nxt in stops or nxt in (CLOSE if step > 0 else PAIRS) or nxt in ";{}":
                return i
            i += step

    def is_operand_before(self, i):
        t = self.tokens[i - 1]
        return t.kind in ("name", "number") and t.text != "return" or t.text in (")", "]")

    def is_declaration(self, i):
        """Whether token i, a star, is one of a declaration: only names between it and the last ; or brace."""
        k = i - 1
        while self.tokens[k].kind == "name":
            k -= 1
        return self.tokens[k].text in (";", "{", "}") or (self.tokens[k].text == "(" and self.tokens[k - 1].text == "for")

    def look_at(self, i, names):
        t = self.tokens[i]
        before = self.tokens[i - 1].text
        if t.text in RELATIONS:
            self.add(i, i, RELATIONS[t.text], "relation")
        elif t.text in ("&&", "||"):
            self.look_at_chain(i)
        elif t.text in ARITHMETIC:
            binary = t.text not in "+-*&" or self.is_operand_before(i)
            if t.text == "*" and (self.is_declaration(i) or self.tokens[i + 1].text in (")", "*", ",")):
                binary = False
            cast = before == ")" and self.tokens[self.tokens[i - 1].match - 1].text in ("sizeof", "=", "(", "&&", "return")
            if binary and not (cast and t.text in "*&"):
                self.add(i, i, ARITHMETIC[t.text], "arithmetic")
        elif t.text == "!":
            self.add(i, i, "", "negation")
        elif t.kind == "number" and t.text.isdigit() and "." not in t.text:
            n = int(t.text)
            for other in ([1] if n == 0 else [n - 1, n + 1]):
                self.add(i, i, str(other), "constant")
        elif t.kind == "name":
            self.look_at_name(i, names)
        if before in (";", "{", "}", ")", "else", ":"):
            self.look_at_statement(i)

    def look_at_name(self, i, names):
        t = self.tokens[i]
        for partner in PARTNERS.get(t.text, []):
            if partner in names or partner in ("min64", "max64", "true", "false"):
                self.add(i, i, partner, "name")
        if t.text in FOLDS and self.tokens[i + 1].text == "(":
            close = self.tokens[i + 1].match
            comma = self.edge(i + 2, 1, {","}) + 1
            if self.tokens[comma].text == "," and "ARENA_" not in self.text(i, close):
                self.add(i, close, self.text(i + 2, comma - 1), "left operand")
                self.add(i, close, self.text(comma + 1, close - 1), "right operand")
        if t.text in ("if", "while") and self.tokens[i + 1].text == "(":
            close = self.tokens[i + 1].match
            self.add(i + 1, close, f"(!{self.text(i + 1, close)})", "condition")
        if t.text == "return" and self.returns_bool and self.tokens[i + 1].text not in ("true", "false", ";"):
            end = self.edge(i + 1, 1, set())
            if not self.of_memory(self.text(i + 1, end)):
                self.add(i + 1, end, f"!({self.text(i + 1, end)})", "answer")

    def of_memory(self, text):
        parts = re.split(r"&&|\|\|", text)
        plain = all(re.fullmatch(r"\s*!?[\w>.\[\]-]+\s*", part) for part in parts)
        return bool(OF_MEMORY.search(text)) or (plain and len(parts) > 1 and
                                                (all("!" in part for part in parts) or len(parts) > 3))

    def look_at_chain(self, i):
        t = self.tokens[i]
        stops = {",", "?", ":", "=", "return", "||", "+=", "|="} | ({"&&"} if t.text == "&&" else set())
        left, right = self.edge(i - 1, -1, stops), self.edge(i + 1, 1, stops)
        first, last = self.edge(i - 1, -1, stops - {"&&", "||"}), self.edge(i + 1, 1, stops - {"&&", "||"})
        if self.of_memory(self.text(first, last)):
            return
        self.add(i, i, "||" if t.text == "&&" else "&&", "logic")
        self.add(i, right, "", "dropped condition")
        if self.tokens[left - 1].text != t.text:
            self.add(left, i, "", "dropped condition")

    def look_at_statement(self, i):
        t = self.tokens[i]
        if t.text in ("continue", "break"):
            self.add(i, i, "", "dropped statement")
            return
        if t.kind != "name" and t.text not in ("*", "++", "--", "("):
            return
        end = self.edge(i, 1, set())
        if self.tokens[end + 1].text != ";":
            return
        text = self.text(i, end)
        calls_or_sets = re.match(r"\(?[*(]*[A-Za-z_][\w.>\[\]\s*()+-]*?(\(|=[^=]|[-+|&*/]=|\+\+|--)", text) or t.text in ("++", "--")
        declares = t.kind == "name" and self.tokens[i + 1].kind == "name" or re.match(r"[\w ]+\*+\s*\w+( =|,|$)", text)
        if calls_or_sets and not declares and t.text not in ("return", "if", "for", "while", "switch", "case", "goto", "enum",
                                                             "static", "const", "sizeof", "else", "TRY"):
            if not OF_MEMORY.search(text) and not text.startswith("(void)"):
                self.add(i, end, "", "dropped statement")


class Mutant:
    def __init__(self, path, source, start, end, new, kind, function, seen):
        self.path, self.source, self.start, self.end, self.new = path, source, start, end, new
        self.kind, self.function = kind, function
        self.line = source.count("\n", 0, start) + 1
        self.change = " ".join(f"{source[start:end]} -> {new}".split())
        begin, stop = source.rfind("\n", 0, start) + 1, source.find("\n", end)
        around = f"{path}|{function}|{kind}|{' '.join(source[begin:start].split())}|{self.change}|{' '.join(source[end:stop].split())}"
        seen[around] = seen.get(around, 0) + 1
        self.id = hashlib.sha1(f"{around}|{seen[around]}".encode()).hexdigest()[:10]

    def text(self):
        return self.source[:self.start] + self.new + self.source[self.end:]

    def diff(self):
        lines = difflib.unified_diff(self.source.splitlines(), self.text().splitlines(), self.path, self.path, "", "", 1, "")
        return "\n".join(list(lines)[2:])


def mutants_of(path):
    source, seen = (ROOT / path).read_text(), {}
    return [Mutant(path, source, *found, seen) for found in Finder(source).found]


# ---- judging ----


class Builder:
    """Compiles and links with the commands of a finished build."""

    def __init__(self, build):
        self.build = build
        self.compile = {}
        for row in json.loads((build / "compile_commands.json").read_text()):
            path = (build / row["file"]).resolve()
            if "libsitu-all.a.p" in row.get("output", row["command"]) and path.is_relative_to(ROOT):
                self.compile[str(path.relative_to(ROOT))] = shlex.split(row["command"])
        listed = subprocess.run(["meson", "introspect", "--tests", str(build)], capture_output=True, text=True, check=True)
        self.tests = {t["name"]: t for t in json.loads(listed.stdout)}
        self.links, self.limits, self.lock = {}, {}, threading.Lock()
        self.sanitized = any("-fsanitize" in " ".join(words) for words in self.compile.values())
        self.environment = {**os.environ, "ASAN_OPTIONS": "abort_on_error=1:detect_leaks=0", "UBSAN_OPTIONS": "halt_on_error=1:abort_on_error=1",
                            "MALLOC_PERTURB_": "165"}  # as `meson test` does: what nobody has set is no 0

    def compile_command(self, path, source, out, flags):
        words, taken = [], iter(self.compile[path])
        for word in taken:
            if word in ("-o", "-MQ", "-MF", "-c"):
                next(taken)
            elif word not in ("-MD", "-g", "-Werror") and not word.startswith("-W"):
                words.append(word)
        return words + flags + ["-w", "-g0", "-c", str(source), "-o", str(out)]

    def make(self, path, text, folder, flags=()):
        """The object file; None where the text is no C."""
        source = folder / pathlib.Path(path).name
        out = source.with_suffix(".o")
        source.write_text(text)
        done = subprocess.run(self.compile_command(path, source, out, list(flags)), cwd=self.build, capture_output=True)
        return out if done.returncode == 0 else None

    def link_command(self, program):
        with self.lock:
            if program not in self.links:
                listed = subprocess.run(["ninja", "-C", str(self.build), "-t", "commands", program], capture_output=True,
                                        text=True, check=True).stdout
                self.links[program] = shlex.split(listed.strip().splitlines()[-1])
            return list(self.links[program])

    def make_guarded(self, path, text, folder):
        """Its object file with sanitizers, and that of the arena, which then allocates each object apart."""
        return [self.make(path, text, folder, GUARD), self.make(ARENA, (ROOT / ARENA).read_text(), folder, GUARD)]

    def run(self, name, made, folder, limit, guarded=False):
        """Whether the test passes, in `limit` seconds of CPU time for each of its processes."""
        test, words = self.tests[name], []
        for word in test["cmd"]:
            path = self.build / word
            if path.is_file() and path.is_relative_to(self.build) and os.access(path, os.X_OK) and ".." not in path.parts:
                program = folder / path.name
                command = self.link_command(str(path.relative_to(self.build)))
                command[command.index("-o") + 1] = str(program)
                at = command.index("libsitu-all.a")
                command[at:at] = [str(path) for path in made] + GUARD * guarded
                done = subprocess.run(command + ["-Wl,-s"], cwd=self.build, capture_output=True, text=True)
                if done.returncode != 0:
                    raise RuntimeError(f"{name} does not link: {done.stderr[:400]}")
                word = str(program)
            words.append(word)
        try:
            done = subprocess.run(words, cwd=folder, env={**self.environment, **test["env"]}, stdin=subprocess.DEVNULL,
                                  stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=WAIT * limit,
                                  preexec_fn=lambda: confine(limit, not self.sanitized and not guarded))
            return done.returncode in (0, 77)
        except subprocess.TimeoutExpired:
            return False

    def learn_limits(self, path, names):
        """Runs each test on the file as it is."""
        for name in names:
            if name in self.limits:
                continue
            with tempfile.TemporaryDirectory() as scratch:
                folder = pathlib.Path(scratch)
                made, before = self.make(path, (ROOT / path).read_text(), folder), cpu_seconds()
                if not self.run(name, [made], folder, 600):
                    sys.exit(f"mutate: the test {name} fails on the tree as it is")
            self.limits[name] = int(10 + 4 * (cpu_seconds() - before))


def cpu_seconds():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def confine(seconds, memory):
    """Limits of a test; sanitizers reserve more memory than any limit."""
    os.nice(5)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
    if memory:
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))


def tests_for(path, known):
    for pattern, names in PROGRAMS:
        if re.match(pattern, path):
            return [name for name in names if name in known]
    sys.exit(f"mutate: no tests are named for {path}; add a row to PROGRAMS in {pathlib.Path(__file__).name}")


def guarded(builder, mutant, folder):
    """The test that fails once the changed file is compiled with sanitizers; "" where all pass."""
    changed = builder.make_guarded(mutant.path, mutant.text(), folder)
    for name in tests_for(mutant.path, builder.tests):
        limit = 10 * builder.limits[name]
        if builder.run(name, changed, folder, limit, True):
            continue
        whole = builder.make_guarded(mutant.path, mutant.source, folder)
        if not builder.run(name, whole, folder, limit, True):
            raise RuntimeError(f"{name} fails with sanitizers on {mutant.path} as it is")
        return f"{name}, guarded"
    return ""


def judge(builder, mutant, equals, originals, guard):
    start = time.monotonic()
    outcome, by = "survived", ""
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        made = builder.make(mutant.path, mutant.text(), folder)
        if made is None:
            outcome = "stillborn"
        elif made.read_bytes() == originals[mutant.path]:
            outcome, by = "equivalent", "compiler"
        elif mutant.id in equals:
            outcome, by = "equivalent", "listed"
        elif mutant.kind == "dropped statement" and CONTRACTS.match(mutant.source, mutant.start):
            outcome, by = "equivalent", "contract"
        else:
            for name in tests_for(mutant.path, builder.tests):
                if not builder.run(name, [made], folder, builder.limits[name]):
                    outcome, by = "killed", name
                    break
            else:
                by = guarded(builder, mutant, folder) if guard else ""
                outcome = "killed" if by else "survived"
    return outcome, by, round(time.monotonic() - start, 2)


def read_rows(path):
    if not path.exists():
        return {}
    with path.open() as file:
        return {row["id"]: row for row in csv.DictReader(file)}


def read_equivalents():
    """Lines `ID  reason`; # begins a comment."""
    lines = EQUIVALENT.read_text().splitlines() if EQUIVALENT.exists() else []
    return {line.split()[0] for line in lines if line.strip() and not line.startswith("#")}


def write_rows(path, rows):
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS)
        writer.writeheader()
        writer.writerows(rows.values())


def judge_all(options, mutants):
    builder, equals, out = Builder(options.build.resolve()), read_equivalents(), pathlib.Path(options.output)
    rows = {k: v for k, v in read_rows(out).items() if v["outcome"].upper() != (options.again or "").upper()}
    todo = [m for m in mutants if m.id not in rows]
    originals = {}
    for path in sorted({m.path for m in todo}):
        with tempfile.TemporaryDirectory() as scratch:
            originals[path] = builder.make(path, (ROOT / path).read_text(), pathlib.Path(scratch)).read_bytes()
        builder.learn_limits(path, tests_for(path, builder.tests))
    write_rows(out, rows)
    done, lock = len(rows), threading.Lock()
    with out.open("a", newline="") as file, ThreadPoolExecutor(options.jobs) as pool:
        writer = csv.DictWriter(file, COLUMNS)

        def work(m):
            nonlocal done
            outcome, by, seconds = judge(builder, m, equals, originals, options.guard)
            row = dict(zip(COLUMNS, [m.id, m.path, m.line, m.function, m.kind, m.change[:120], outcome, by, seconds]))
            with lock:
                writer.writerow(row)
                file.flush()
                rows[m.id] = row
                done += 1
                print(f"{done} {outcome:<10} {m.path}:{m.line} {m.kind}: {m.change[:80]} {by}", flush=True)

        list(pool.map(work, todo))
    return rows


def show_score(rows, by_file):
    table = {}
    for row in rows.values():
        key = row["file"] if by_file else "/".join(row["file"].split("/")[:2]) + "/"
        table.setdefault(key, {}).setdefault(row["outcome"], 0)
        table[key][row["outcome"]] += 1
    print("| room | killed | survived | equivalent | stillborn | score |\n|-|-:|-:|-:|-:|-:|")
    for key in sorted(table):
        n = {k: table[key].get(k, 0) for k in ("killed", "survived", "equivalent", "stillborn")}
        judged = n["killed"] + n["survived"]
        score = f"{100 * n['killed'] / judged:.1f} %" if judged else "-"
        print(f"| `{key}` | {n['killed']} | {n['survived']} | {n['equivalent']} | {n['stillborn']} | {score} |")


def show_survivors(rows):
    wanted = [row for row in rows.values() if row["outcome"] == "survived"]
    for path in sorted({row["file"] for row in wanted}):
        ids = {row["id"] for row in wanted if row["file"] == path}
        for m in mutants_of(path):
            if m.id in ids:
                print(f"## {m.id} {m.path}:{m.line} in {m.function}: {m.kind}\n{m.diff()}\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("paths", nargs="*", metavar="PATH", help="C files, or folders of them; relative to the tree")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build", help="a finished build of the tree")
    parser.add_argument("--sample", type=int, help="as many changes, drawn from all with --seed; default: all")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("-o", "--output", default="mutants.csv", help="where results go, and where a run goes on")
    parser.add_argument("--guard", action="store_true", help="what all tests pass is run with sanitizers in the changed file too")
    parser.add_argument("--again", metavar="OUTCOME", help="judge the rows with this outcome anew")
    parser.add_argument("--only", metavar="ID[,ID...]", help="these changes only")
    parser.add_argument("--like", metavar="FILE.csv", type=pathlib.Path, help="the changes of another run only, to compare")
    parser.add_argument("--list", metavar="FILE.csv", type=pathlib.Path, help="show what survived")
    parser.add_argument("--score", metavar="FILE.csv", type=pathlib.Path, help="show the score of each room")
    parser.add_argument("--by-file", action="store_true", help="with --score: of each file")
    options = parser.parse_args()
    if options.list:
        return show_survivors(read_rows(options.list))
    if options.score:
        return show_score(read_rows(options.score), options.by_file)
    files = []
    for name in options.paths:
        path = (ROOT / name).resolve()
        files += sorted(path.rglob("*.c")) if path.is_dir() else [path]
    mutants = [m for path in files for m in mutants_of(str(path.relative_to(ROOT)))]
    if options.sample and options.sample < len(mutants):
        mutants = random.Random(options.seed).sample(mutants, options.sample)
    if options.like:
        wanted = read_rows(options.like)
        mutants = [m for m in mutants if m.id in wanted]
    if options.only:
        mutants = [m for m in mutants if m.id in options.only.split(",")]
    show_score(judge_all(options, mutants), options.by_file)
    return 0


if __name__ == "__main__":
    sys.exit(main())

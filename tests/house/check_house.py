#!/usr/bin/env python3
"""The house check: holds the sources against the rules of docs/ARCHITECTURE.md and CONVENTIONS.md.

    check_house.py ROOT [LIBRARY]

ROOT is the source tree; LIBRARY, if given, is the shared library whose exported symbols must be those of the public
headers. The object files beside it then say who uses whom: that follows the floors and forms no circles either.
Prints one line for each breach and exits 1 if there is any.
"""
import json
import os
import pathlib
import re
import subprocess
import sys

MAX_LINES, MAX_FUNCTION_LINES = 800, 80
FORMAT_VERSION = 14
INCLUDE = re.compile(r'^\s*#\s*include\s+([<"])([^>"]+)[>"]')
FUNCTION_START = re.compile(r"^[A-Za-z_].*\)\s*\{\s*$|^\{\s*$")
STANDARD = re.compile(
    r"^(assert|ctype|errno|float|inttypes|limits|locale|math|tgmath|pthread|setjmp|signal|stdalign|stdarg|stdatomic|"
    r"stdbool|stddef|stdint|stdio|stdlib|string|time)\.h$"
)
# What asks the operating system; only these files include its headers.
OF_THE_SYSTEM = re.compile(r"^(src/base/os_\w+|cli/console_\w+)\.[ch]$")


def read_floors(root):
    """The floor table, rows like `| 3 | cost/ | ... |`: {folder: (floor, folders that it must not see)}. A folder in a
    folder is a room of its own where it has a row of its own."""
    floors = {}
    for line in (root / "docs/ARCHITECTURE.md").read_text().splitlines():
        row = re.match(r"^\|\s*(\d+)\s*\|\s*`([a-z_/]+)/`", line)
        if row:
            apart = re.search(r"sees neither ([^;|]*)", line)
            floors[row.group(2)] = (int(row.group(1)), re.findall(r"`([a-z_/]+)/`", apart.group(1)) if apart else [])
    return floors


def room_of(parts, floors):
    """The room that a path below src/ lies in: its longest folder with a row."""
    for n in range(len(parts) - 1, 0, -1):
        if "/".join(parts[:n]) in floors:
            return "/".join(parts[:n])
    return parts[0]


def sources(root):
    for top in ("src", "cli", "include", "tests", "bench", "examples", "python", "tools"):
        for path in sorted((root / top).rglob("*")) if (root / top).is_dir() else []:
            if path.suffix in (".c", ".h", ".py") and "__pycache__" not in path.parts:
                yield path


def check_includes(root, path, floors, breaches, foreign):
    parts = path.relative_to(root).parts
    lines = path.read_text().splitlines()
    for number, line in enumerate(lines, 1):
        match = INCLUDE.match(line)
        if not match:
            continue
        bracket, name = match.groups()
        where = f"{path.relative_to(root)}:{number}"
        if bracket == "<":
            if OF_THE_SYSTEM.match("/".join(parts)):
                continue
            if re.match(r"^(sys/|arpa/|netinet/|win)|^(unistd|fcntl|dirent|dlfcn|poll|sched|regex|langinfo|io)\.h$", name):
                if parts[0] in ("src", "cli", "include"):
                    breaches.append(f"{where}: <{name}> is of the operating system; ask base/os.h or cli/console.h")
            elif parts[0] in ("src", "cli", "include") and not STANDARD.match(name):
                foreign.setdefault(name, set()).add(str(path.relative_to(root)))
            continue
        folder = name.split("/")[0]
        if folder.endswith(".pb-c.h"):
            foreign.setdefault(name, set()).add(str(path.relative_to(root)))
        elif folder in ("situ", "situ.h"):
            continue
        elif parts[0] == "cli" and (path.parent / name).is_file():
            continue
        elif parts[0] in ("cli", "python", "examples", "include"):
            breaches.append(f"{where}: sees {name}; only public headers may be seen here")
        elif parts[0] == "src":
            room, other = room_of(parts[1:], floors), room_of(name.split("/"), floors)
            (mine, apart), (theirs, _) = floors.get(room, (None, [])), floors.get(other, (None, []))
            if theirs is None:
                breaches.append(f"{where}: includes {name}, which is in no floor; write includes with their folder")
            elif mine is None:
                breaches.append(f"{where}: the folder src/{room} is not in the floor table")
            elif room != other and theirs >= mine:
                breaches.append(f"{where}: floor {mine} includes {name} of floor {theirs}")
            elif other in apart:
                breaches.append(f"{where}: {room}/ includes {name}, which its row in the floor table rules out")


def check_externs(root, path, breaches):
    """What another file defines is declared in a header, never by hand where it is used."""
    if path.suffix != ".c" or path.relative_to(root).parts[0] not in ("src", "cli"):
        return
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if re.match(r"\s*extern\b", line):
            breaches.append(f"{path.relative_to(root)}:{number}: a hidden extern; declare it in a header")


def circles_of(arrows):
    """The strongly connected parts of {name: names} with more than one member (Tarjan, "Depth-first search and linear
    graph algorithms", 1972)."""
    found, open_, low, index = [], [], {}, {}

    def visit(name):
        index[name] = low[name] = len(index)
        open_.append(name)
        for other in sorted(arrows.get(name, ())):
            if other == name:
                continue
            if other not in index:
                visit(other)
            if other in open_:
                low[name] = min(low[name], low[other])
        if low[name] == index[name]:
            found.append(sorted(open_[open_.index(name):]))
            del open_[open_.index(name):]

    for name in sorted(arrows):
        if name not in index:
            visit(name)
    return [circle for circle in found if len(circle) > 1]


def allowed_circles(root):
    """Those that docs/ARCHITECTURE.md names: "A circle by design: `a` and `b`"."""
    text = (root / "docs/ARCHITECTURE.md").read_text()
    return [sorted(pair) for pair in re.findall(r"A circle by design: `([a-z_/]+)`\s+and\s+`([a-z_/]+)`", text)]


def check_circles(root, breaches):
    """No two files of src/ include each other, by any number of steps: a file and its header count as one."""
    arrows = {}
    for path in (root / "src").rglob("*.[ch]"):
        name = str(path.relative_to(root / "src").with_suffix(""))
        lines = [INCLUDE.match(line) for line in path.read_text().splitlines()]
        arrows.setdefault(name, set()).update(m.group(2)[:-2] for m in lines if m and m.group(1) == '"')
    arrows = {name: others & arrows.keys() for name, others in arrows.items()}
    for circle in circles_of(arrows):
        breaches.append(f"src/: {', '.join(circle)} include each other in a cycle")


def read_symbols(root, library):
    """{file: {other file: symbols}}: what each object file needs of the others, functions and rows of tables. Files of
    src/ by room and name, those of cli/ likewise; there functions alone, for a command may list all commands."""
    built = pathlib.Path(library).resolve().parent
    names = {}
    for top in ("src", "cli"):
        for path in (root / top).rglob("*.c"):
            name = str(path.relative_to(root).with_suffix(""))
            names[name.replace("/", "_") + ".c.o"] = name.removeprefix("src/")
    defined, needed = {}, {}
    for objects in ([built / "libsitu-all.a"], sorted(built.glob("situ.p/cli_*.o"))):
        if not objects or not objects[0].is_file():
            continue
        listing = subprocess.run(["nm", "-A", *objects], capture_output=True, text=True, check=True).stdout
        for where, kind, symbol in re.findall(r"([^/:\n]+\.o):[ 0-9a-f]* ([A-Za-z]) (\S+)$", listing, re.MULTILINE):
            name = names.get(where)
            if name and kind == "U":
                needed.setdefault(name, set()).add(symbol)
            elif name and (kind == "T" or (kind.isupper() and not name.startswith("cli/"))):
                defined[symbol] = (name, kind == "T")
    uses = {}
    for name, symbols in needed.items():
        for symbol in symbols & defined.keys():
            other, called = defined[symbol]
            if other != name:
                uses.setdefault(name, {}).setdefault(other, {})[symbol] = called
    return uses


def check_symbols(root, library, floors, breaches):
    """What a file takes of others without an include line of theirs: no circles, and calls go down the floors."""
    uses, allowed = read_symbols(root, library), allowed_circles(root)
    circles = circles_of(uses)
    for circle in circles:
        if circle not in allowed:
            breaches.append(f"src/: {', '.join(circle)} use each other in a cycle")
    for circle in allowed:
        if uses and circle not in circles:
            breaches.append(f"docs/ARCHITECTURE.md: {', '.join(circle)} are no circle")
    for name, others in sorted(uses.items()):
        for other, symbols in sorted(others.items()):
            mine, theirs = (room_of(path.split("/"), floors) for path in (name, other))
            calls = sorted(symbol for symbol, called in symbols.items() if called)
            if calls and mine != theirs and {mine, theirs} <= floors.keys() and floors[theirs][0] >= floors[mine][0]:
                breaches.append(f"src/{name}.c: floor {floors[mine][0]} calls {calls[0]} of floor {floors[theirs][0]}")


def check_lengths(root, path, breaches):
    lines = path.read_text().splitlines()
    where = path.relative_to(root)
    if len(lines) > MAX_LINES:
        breaches.append(f"{where}: {len(lines)} lines; at most {MAX_LINES}")
    if path.suffix == ".py":
        return
    start = None
    for number, line in enumerate(lines, 1):
        if start is None and FUNCTION_START.match(line) and not line.startswith(("typedef", "struct", "enum", "extern")):
            start = number
        elif line.startswith("}"):
            if start is not None and number - start + 1 > MAX_FUNCTION_LINES:
                breaches.append(f"{where}:{start}: a function of {number - start + 1} lines; at most {MAX_FUNCTION_LINES}")
            start = None


def check_exports(root, library, breaches):
    declared = set()
    for header in (root / "include").rglob("*.h"):
        text = header.read_text()
        for found in re.finditer(r"SITU_API\s[^;]*?\b(situ_\w+)\s*\(", text):
            declared.add(found.group(1))
    listing = subprocess.run(["nm", "-D", "--defined-only", library], capture_output=True, text=True, check=True).stdout
    exported = {line.split()[-1].split("@")[0] for line in listing.splitlines()}
    exported = {name for name in exported if name not in ("_init", "_fini") and not name.startswith("SITU_")}
    for name in sorted(exported - declared):
        breaches.append(f"{library}: exports {name}, which no public header declares")
    for name in sorted(declared - exported):
        breaches.append(f"{library}: {name} is declared in a public header but not exported")


def headings_of(page):
    """The anchors of a page's headings, as GitHub makes them."""
    titles = re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


def check_documents(root, breaches):
    """The files that documents name and link to are there, with the headings; so are the pages that sources name, and
    public names. Each page of docs/ begins with what its reader learns. Backquoted paths without a suffix are files or
    folders."""
    public = set(re.findall(r"\b(?:situ|SITU)_\w+", "\n".join(p.read_text() for p in (root / "include").rglob("*.h"))))
    folders = ("src", "cli", "include", "tests", "bench", "examples", "python", "tools", "docs", "share")
    files = [path for top in folders for path in (root / top).rglob("*") if path.is_file()]
    names = {path.name for path in files}
    for page in sorted({path for path in files if path.suffix == ".md"} | set(root.glob("*.md"))):
        if "docs" in page.relative_to(root).parts and "\n\nAfter this page you " not in page.read_text(encoding="utf-8"):
            breaches.append(f"{page.relative_to(root)}: does not begin with what its reader learns: After this page you ...")
        made = set(re.findall(r"^```\w+ (\S+)$", page.read_text(encoding="utf-8"), re.MULTILINE))  # by the page itself
        for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), 1):
            where = f"{page.relative_to(root)}:{number}"
            for name in re.findall(r"(?<![\w*.-])(?:[\w.-]+/)*([a-z][a-z0-9_-]*\.(?:c|h|py|sh|md))\b", line):
                if name not in names | made and not STANDARD.match(name):
                    breaches.append(f"{where}: names {name}, which is not in the tree")
            for name in re.findall(r"`((?:[a-z_]+/)+[a-z_]+)`", line):
                if not any((root / top / (name + end)).exists() for top in ("", "src", "src/solve") for end in ("", ".c", ".h")):
                    breaches.append(f"{where}: names {name}, which is not in the tree")
            for name in re.findall(r"\bsitu_\w+|\bSITU_[A-Z]\w+", line):
                if name not in public | {"situ_noun_verb", "situ_x_free"} and page.name != "CHANGELOG.md":
                    breaches.append(f"{where}: names {name}, which no public header has")
            for link, heading in re.findall(r"\]\(([^)#:\s]*)(?:#([^):\s]+))?\)", line):
                target = page.parent / link if link else page
                if not target.exists():
                    breaches.append(f"{where}: links to {link}, which is not there")
                elif heading and heading not in headings_of(target):
                    breaches.append(f"{where}: links to {link}#{heading}, a heading that is not there")
    for path in [*files, *root.iterdir()]:
        if path.suffix not in (".md", ".c", ".h", ".py", ".sh", ".build") and path.name != "Makefile":
            continue
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            for name in re.findall(r"(?<![\w/.])docs/[\w./-]+\.(?:md|json|svg)\b", line):
                if not (root / name).is_file():
                    breaches.append(f"{path.relative_to(root)}:{number}: names {name}, which is not there")


FLOAT = re.compile(r"%[-+ #0']*[0-9*]*(?:\.[0-9*]+)?[lL]?[aAeEfFgG]")
OF_THE_LOCALE = re.compile(r"\b(strto[df]|strtold|atof|strn?casecmp|strcoll|strxfrm|strerror|strsignal|setlocale|localeconv|strftime|"
                           r"is(?:alnum|alpha|blank|cntrl|digit|graph|lower|print|punct|space|upper|xdigit)|to(?:lower|upper)|v\w*printf)\s*\(")
SCANS_OR_PRINTS = re.compile(r"\b(?:snprintf|sprintf|fprintf|dprintf|printf|sscanf|fscanf)\s*\(")


def check_locale(root, breaches):
    """What depends on the locale of the program is called in base/c_locale.c, and in what it asks of the system, alone."""
    for path in sorted((root / "src").rglob("*.[ch]")):
        name, text = str(path.relative_to(root)), path.read_text()
        if name == "src/base/c_locale.c" or OF_THE_SYSTEM.match(name):
            continue
        code = re.sub(r"/\*.*?\*/|//[^\n]*", lambda found: re.sub(r"[^\n]", " ", found.group()), text, flags=re.DOTALL)
        bare = re.sub(r'"(?:[^"\\\n]|\\.)*"', lambda found: " " * len(found.group()), code)
        for found in OF_THE_LOCALE.finditer(bare):
            line = text.count("\n", 0, found.start()) + 1
            breaches.append(f"{name}:{line}: {found.group(1)} depends on the locale; see base/c_locale.h and base/ascii.h")
        for found in SCANS_OR_PRINTS.finditer(bare):
            call = code[found.start():bare.find(";", found.start())]
            if FLOAT.search(call):
                line = text.count("\n", 0, found.start()) + 1
                breaches.append(f"{name}:{line}: prints or reads a number in the locale; use c_locale_print or c_locale_number")


def recent(root, files):
    """Those that git says changed in the last twenty commits or since; none without git."""
    changed = subprocess.run(["git", "-C", root, "diff", "--name-only", "HEAD~20"], capture_output=True, text=True).stdout
    names = {str(root / name) for name in changed.splitlines()}
    return [path for path in files if path in names]


def check_format(root, breaches):
    """clang-format agrees, where its version is there; others lay out differently. All files take seconds, so `make test`
    asks of recent ones."""
    fast = int(os.environ.get("SITU_TEST_SHARE", "100")) < 100
    try:
        version = subprocess.run(["clang-format", "--version"], capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        return "clang-format is not installed: layout not looked at"
    if f"version {FORMAT_VERSION}." not in version:
        return f"clang-format is not version {FORMAT_VERSION}: layout not looked at"
    files = [str(path) for path in sources(root) if path.suffix in (".c", ".h")]
    files = recent(root, files) if fast else files
    if not files:
        return "no recent file: layout not looked at"
    out = subprocess.run(["clang-format", "--dry-run", *files], capture_output=True, text=True).stderr
    for line in sorted({line.split(":")[0] for line in out.splitlines() if "[-Wclang-format-violations]" in line}):
        breaches.append(f"{pathlib.Path(line).relative_to(root)}: clang-format -i would change it")
    return f"clang-format agrees with {len(files)}"


def check_options(root, breaches):
    """The schema of plan files has a member for each option of the table that plan files keep."""
    rows, schema = root / "src/option/option_rows.c", root / "docs/formats/plan.schema.json"
    if not rows.exists():
        return
    found = re.findall(r"ROW\(\"[a-z-]+\", (\w+), \w+, \w+\),\s*\.json = \"(\w+)\"", rows.read_text())
    instance = json.loads(schema.read_text())["properties"]["instance"]["properties"]
    for part, name in found:
        if name not in (instance["costs"]["properties"] if part == "COST" else instance):
            breaches.append(f"{schema.relative_to(root)}: instance has no {name}, which {rows.relative_to(root)} has")
    if len(found) < 30:
        breaches.append(f"{rows.relative_to(root)}: only {len(found)} rows with members of plan files were found")


def main():
    root = pathlib.Path(sys.argv[1]).resolve()
    breaches, foreign, seen = [], {}, {}
    floors = read_floors(root)
    if not floors:
        breaches.append("docs/ARCHITECTURE.md: no floor table was found")
    n = 0
    for path in sources(root):
        n += 1
        check_includes(root, path, floors, breaches, foreign)
        check_lengths(root, path, breaches)
        check_externs(root, path, breaches)
        if path.suffix in (".c", ".h") and path.name in seen and "include" not in (path.relative_to(root).parts[0], seen[path.name].parts[0]):
            breaches.append(f"{path.relative_to(root)}: {seen[path.name]} bears the same name")
        seen[path.name] = path.relative_to(root)
    for name, users in sorted(foreign.items()):
        if len(users) > 1 or any(user.endswith(".h") for user in users):
            breaches.append(f"<{name}>: a foreign header belongs behind one .c file; seen in {', '.join(sorted(users))}")
    check_circles(root, breaches)
    check_locale(root, breaches)
    check_documents(root, breaches)
    check_options(root, breaches)
    if len(sys.argv) > 2:
        check_exports(root, sys.argv[2], breaches)
        check_symbols(root, sys.argv[2], floors, breaches)
    layout = check_format(root, breaches)
    print("\n".join(breaches) if breaches else f"{n} files keep the house rules; {layout}")
    return 1 if breaches else 0


if __name__ == "__main__":
    sys.exit(main())

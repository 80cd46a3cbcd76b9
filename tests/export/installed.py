#!/usr/bin/env python3
"""installed.py BUILD SOURCE CC CXX: builds the examples as a stranger would: against a copy of situ that is installed into
a clean root, found by pkg-config alone, in an empty environment; with the shared library, then with the static one; then
by CMake, where that is installed, and as a subproject of meson."""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

build, source, cc, cxx = sys.argv[1:5]
pkg_config = shutil.which("pkg-config") or shutil.which("pkgconf")
if not pkg_config:
    print("pkg-config is not installed")
    sys.exit(77)


def run(*command, **environment):
    """Runs in an empty environment; prints what went wrong, and ends the test."""
    done = subprocess.run(command, env={"PATH": "/usr/bin:/bin", **environment}, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}: exit {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


with tempfile.TemporaryDirectory() as folder:
    root = pathlib.Path(folder) / "root"
    subprocess.run(["meson", "install", "-C", build, "--no-rebuild", "--quiet", "--destdir", str(root)], check=True)
    pc = next(root.rglob("situ.pc"))
    libdir = pc.parent.parent

    def ask(*what):
        return run(pkg_config, *what, "situ", PKG_CONFIG_PATH=str(pc.parent)).split()

    version = ask("--modversion")[0]
    abi = ".".join(version.split(".")[:2])
    names = {p.name for p in libdir.glob("libsitu.*")}
    expected = {"libsitu.a", "libsitu.so", f"libsitu.so.{abi}", f"libsitu.so.{version}"}
    assert names == expected, f"{sorted(names)} are installed, not {sorted(expected)}"
    globals_ = [line.split()[-1] for line in run("nm", "--defined-only", "-g", str(libdir / "libsitu.a")).splitlines()
                if re.match(r"^[0-9a-f]+ [A-Z] ", line)]
    strangers = [name for name in globals_ if not name.startswith("situ_")]
    assert globals_ and not strangers, f"libsitu.a shows names that are not its own: {strangers[:5]}"

    # A name of ours that the library uses inside must not meet that of the program.
    own = pathlib.Path(folder) / "own_names.c"
    own.write_text('#include <situ.h>\n#include <stdio.h>\nint arena_new(void);\nint arena_new(void) { return 1; }\n'
                   'int main(void) { printf("%s\\n", situ_version()); return !(arena_new() && situ_solver_count() > 0); }\n')
    examples = sorted(root.rglob("examples/*.c")) + sorted(root.rglob("examples/*.cpp")) + [own]
    assert len(examples) >= 4, f"only {examples} are installed"
    n = 0
    for example in examples:
        plus = example.suffix == ".cpp"
        if plus and cxx == "none":
            continue
        compile_ = [cxx, "-std=c++17"] if plus else [cc, "-std=c11"]
        program = pathlib.Path(folder) / example.stem
        strict = ["-Wall", "-Wextra", "-Wpedantic", "-Werror"]
        run(*compile_, *strict, str(example), "-o", str(program), *ask("--cflags", "--libs"))
        run(str(program), LD_LIBRARY_PATH=str(libdir))
        static = [str(libdir / "libsitu.a") if word == "-lsitu" else word for word in ask("--static", "--cflags", "--libs")]
        run(*compile_, *strict, str(example), "-o", str(program), *static)
        run(str(program))
        n += 1

    # find_package, in a folder that it was not configured for; another interface is not taken.
    project = pathlib.Path(folder) / "project"
    project.mkdir()
    shutil.copy(examples[0], project / "program.c")
    lists = """cmake_minimum_required(VERSION 3.16)
project(stranger C)
find_package(situ VERSION_WANTED REQUIRED)
add_executable(shared program.c)
target_link_libraries(shared PRIVATE situ::situ)
add_executable(static program.c)
target_link_libraries(static PRIVATE situ::static)
"""
    cmake = shutil.which("cmake", path="/usr/bin:/usr/local/bin")
    if cmake:
        here = ["-S", str(project), f"-DCMAKE_PREFIX_PATH={libdir.parent.parent}", f"-DCMAKE_C_COMPILER={cc}"]
        (project / "CMakeLists.txt").write_text(lists.replace("VERSION_WANTED", abi))
        run(cmake, *here, "-B", str(project / "b"))
        run(cmake, "--build", str(project / "b"))
        for name in ("shared", "static"):
            run(str(project / "b" / name))
        (project / "CMakeLists.txt").write_text(lists.replace("VERSION_WANTED", "0.2"))
        refused = subprocess.run([cmake, *here, "-B", str(project / "c")], capture_output=True, text=True)
        assert refused.returncode and "0.2" in refused.stderr, refused.stderr

    # As a subproject it is the library alone, and so it is by the option.
    (project / "subprojects").mkdir()
    (project / "subprojects" / "situ").symlink_to(source)
    (project / "meson.build").write_text("project('stranger', 'c')\nexecutable('p', 'program.c', dependencies: dependency('situ'))\n")
    run("meson", "setup", str(project / "m"), str(project), HOME=folder, PATH=os.environ["PATH"], CC=cc)
    targets = subprocess.run(["ninja", "-C", str(project / "m"), "-t", "targets", "all"], capture_output=True, text=True, check=True).stdout
    assert "libsitu.so" in targets and "test-arguments" not in targets and "cmd_place" not in targets
    run("meson", "setup", str(project / "l"), source, "-Dtool=false", HOME=folder, PATH=os.environ["PATH"], CC=cc)
    targets = subprocess.run(["ninja", "-C", str(project / "l"), "-t", "targets", "all"], capture_output=True, text=True, check=True).stdout
    assert "libsitu.so" in targets and "cmd_place" not in targets
print(f"{n} programs built and run against the installed {version}, shared and static")

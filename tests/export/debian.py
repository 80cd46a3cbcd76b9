#!/usr/bin/env python3
"""debian.py SOURCE BUILD: makes the Debian packages and installs them into a bare root, as the Containerfile does.

There the tool, a C program and the Python face work, and after a purge no file is left. Skipped (77), with the reason,
where this cannot be done: it takes root, a Debian, debootstrap, what debian/control builds with, and the network."""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

SOURCE, BUILD = (pathlib.Path(a).resolve() for a in sys.argv[1:3])
MIRROR = os.environ.get("SITU_DEBIAN_MIRROR", "http://deb.debian.org/debian")
NAMES = ["libsitu0.3", "libsitu-dev", "python3-situ", "situ"]
OWN_STATE = ("dev", "packages", "proc", "root", "sys", "tmp", "var/cache", "var/lib/apt", "var/lib/dpkg", "var/log")


def run(*command, **how):
    """What a command prints; ends the test where it fails."""
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False, **how)
    if done.returncode and re.search(r"^E: (Failed to fetch|Unable to fetch)", done.stdout, re.M):
        print(f"{MIRROR} cannot be reached: {done.stdout[-500:]}")
        sys.exit(77)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}: exit {done.returncode}\n{done.stdout[-5000:]}")
    return done.stdout


def skip_reason():
    release = pathlib.Path("/etc/os-release")
    if not release.is_file() or not re.search(r"^ID=debian$", release.read_text(), re.M):
        return "this system is no Debian"
    for tool in ("debootstrap", "dpkg-checkbuilddeps", "git"):
        if not shutil.which(tool):
            return f"{tool} is not installed"
    if os.geteuid() != 0:
        return "only root can make a root"
    if subprocess.run(["dpkg-checkbuilddeps"], cwd=SOURCE, capture_output=True, check=False).returncode:
        return "what debian/control builds with is not installed (tools/setup.sh deb)"
    return None


def files_of(root):
    """Every path in the root but those that apt, dpkg and this test keep for themselves."""
    found = set()
    for folder, folders, names in os.walk(root):
        here = pathlib.Path(folder).relative_to(root)
        folders[:] = [name for name in folders if str(here / name) not in OWN_STATE]
        found.update(str(here / name) for name in [*folders, *names])
    return found


def use(inside):
    """What a user does with the packages."""
    inside("situ place builtin:resnet50 --platform cpu+v100-16g --steps 100 -o /tmp/plan.json")
    assert "every rule holds" in inside("situ check /tmp/plan.json")
    inside(". /usr/share/bash-completion/completions/situ && complete -p situ")
    for page in (
        "man/man1/situ.1.gz",
        "man/man1/situ-place.1.gz",
        "zsh/vendor-completions/_situ",
        "fish/vendor_completions.d/situ.fish",
    ):
        inside(f"test -s /usr/share/{page}")
    for kind in ("", "--static"):  # own_graph.c includes situ.h alone
        how = "-Wl,-Bstatic -lsitu -Wl,-Bdynamic" if kind else "-lsitu"
        libraries = f"$(pkg-config {kind} --cflags --libs situ | sed 's/-lsitu/{how}/')"
        inside(f"cc -o /tmp/own /usr/share/doc/libsitu-dev/examples/own_graph.c {libraries} && /tmp/own")
        assert ("libsitu.so" in inside("ldd /tmp/own")) == (kind == "")
    inside("""python3 -c "
import situ
plan = situ.place('builtin:resnet50', 'cpu+v100-16g', steps=100)
assert plan.check() and plan.gap < 1, plan" """)


def main():
    reason = skip_reason()
    if reason:
        print(reason)
        return 77
    version = re.match(r"situ \((.*)\)", (SOURCE / "debian/changelog").read_text()).group(1)
    assert f"version: '{version}'" in (SOURCE / "meson.build").read_text(), "debian/changelog has another version"
    run(SOURCE / "tools/deb.sh", BUILD, cwd=SOURCE)
    packages = {path.name.split("_")[0]: path for path in (BUILD / "deb").glob("*.deb")}
    if shutil.which("lintian"):
        run("lintian", "--allow-root", "--fail-on", "error,warning", *packages.values())
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder) / "root"
        release = re.search(r"^VERSION_CODENAME=(.*)$", pathlib.Path("/etc/os-release").read_text(), re.M).group(1)
        made = subprocess.run(
            ["debootstrap", "--variant=minbase", release, root, MIRROR], capture_output=True, text=True, check=False
        )
        if made.returncode:
            print(f"debootstrap from {MIRROR}: {made.stdout[-500:]}")
            return 77
        (root / "packages").mkdir()
        for name in NAMES:
            shutil.copy(packages[name], root / "packages")

        def inside(command):
            clean = {
                "PATH": "/usr/sbin:/usr/bin:/sbin:/bin",
                "HOME": "/root",
                "LC_ALL": "C",
                "DEBIAN_FRONTEND": "noninteractive",
            }
            return run("chroot", root, "bash", "-c", command, env=clean)

        inside(re.findall(r"^RUN (.*)", (SOURCE / "Containerfile").read_text(), re.M)[-1])
        for_static = run("dpkg-deb", "-f", packages["libsitu-dev"], "Recommends").replace(",", " ").strip()
        inside(
            "apt-get install -y --no-install-recommends gcc libc6-dev pkg-config /packages/libsitu-dev_*.deb "
            + for_static
        )
        purge = f"dpkg --purge {' '.join(reversed(NAMES))}"
        inside(purge)
        bare = files_of(root)
        left = [path for path in bare if "situ" in path]
        assert not left, f"left after the first purge: {left}"
        inside("dpkg -i /packages/*.deb")
        use(inside)
        inside(purge)
        left = sorted(files_of(root) - bare)
        assert not left, f"left after a purge: {left}"
    print(f"{', '.join(NAMES)} {version}: installed in a bare root, used, and purged without a trace")
    return 0


if __name__ == "__main__":
    sys.exit(main())

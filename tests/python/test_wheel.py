"""The source distribution and the wheel: built, installed into a clean environment of every Python that is found, used."""
import os
import pathlib
import shutil
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
USE = ("import sys, situ; plan = situ.place('builtin:resnet50', platform='cpu+2*v100-16g', steps=50); "
       "assert plan.check() and sys.prefix in situ.__file__; print('placed', plan.value_ns)")


def pythons():
    """Pythons of 3.9 or later, one of each version."""
    versions = pathlib.Path(os.environ.get("PYENV_ROOT", pathlib.Path.home() / ".pyenv")) / "versions"
    places = [*sorted(versions.glob("3.*/bin/python3")), *(shutil.which(f"python3.{minor}") for minor in range(9, 20)), sys.executable]
    found = {}
    for place in filter(None, places):
        done = subprocess.run([place, "-c", "import sys, venv, ensurepip; print(*sys.version_info[:2])"], capture_output=True,
                              text=True, check=False)
        if done.returncode == 0 and tuple(map(int, done.stdout.split())) >= (3, 9):
            found.setdefault(done.stdout.strip(), str(place))
    return found


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    pytest.importorskip("build", reason="the module build is absent")
    pytest.importorskip("mesonpy", reason="meson-python is absent")
    if not (ROOT / ".git").exists():
        pytest.skip("a source distribution is made of a git checkout")
    folder = tmp_path_factory.mktemp("dist")
    path = os.pathsep.join([str(pathlib.Path(sys.executable).parent), os.environ["PATH"]])
    done = subprocess.run([sys.executable, "-m", "build", "--no-isolation", "--outdir", folder, ROOT], capture_output=True,
                          text=True, check=False, env={**os.environ, "PATH": path})
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    return folder


def test_one_wheel_serves_every_python_of_the_platform(built):
    (wheel,) = built.glob("*.whl")
    assert wheel.name.split("-")[2:4] == ["py3", "none"] and not wheel.name.endswith("any.whl")
    assert len(list(built.glob("*.tar.gz"))) == 1
    outside = {name: value for name, value in os.environ.items() if name not in ("SITU_LIBRARY", "PYTHONPATH")}
    values = set()
    for version, python in pythons().items():
        folder = built / version.replace(" ", ".")
        subprocess.run([python, "-m", "venv", folder], check=True, env=outside)
        subprocess.run([folder / "bin/python", "-m", "pip", "install", "--quiet", "--no-index", wheel], check=True, env=outside)
        done = subprocess.run([folder / "bin/python", "-c", USE], capture_output=True, text=True, check=False, cwd=built, env=outside)
        assert done.returncode == 0, f"{version}: {done.stderr}"
        values.add(done.stdout)
        shutil.rmtree(folder)
    assert len(values) == 1

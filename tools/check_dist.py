"""Build wheel and sdist into dist/, install them into empty environments, and try them there.

    python tools/check_dist.py

The script stops at the first failure, and leaves only dist/ behind.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
DIST = ROOT / "dist"
SMOKE = Path(__file__).with_name("smoke.py")
INSTALL_SECONDS, SMOKE_SECONDS = 3600, 1800
# The sdist must have these, to build, test and document the package.
IN_SDIST = ("pyproject.toml", "LICENSE", "README.md", "Makefile", "src/", "tests/", "docs/")
MADE_BY_BUILDING = {"PKG-INFO"}


def main() -> None:
    shutil.rmtree(DIST, ignore_errors=True)
    print("Building.", flush=True)
    # The wheel is built from the sdist, not from the checkout.
    run([sys.executable, "-m", "build", "--outdir", DIST, ROOT], INSTALL_SECONDS, quiet=True)
    (wheel,), (sdist,) = DIST.glob("*.whl"), DIST.glob("*.tar.gz")
    check_sdist(sdist)
    check_wheel(wheel)
    with tempfile.TemporaryDirectory(prefix="dist-") as folder:
        core, everything = Path(folder, "core"), Path(folder, "all")
        install(core, str(wheel))
        smoke(core, "core")
        install(core, "--force-reinstall", "--no-deps", str(sdist))
        smoke(core, "core")
        install(everything, f"{wheel}[all]")
        smoke(everything, "all")
    sizes = ", ".join(
        f"{path.name} ({path.stat().st_size / 1e6:.1f} MB)" for path in (wheel, sdist)
    )
    print(f"dist passed: {sizes} install and work, core and [all]")


def tracked_files() -> set[str]:
    """Return the files that git tracks, which the sdist must contain."""
    command = ["git", "-C", str(ROOT), "ls-files", "-z"]
    listed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return set(listed.rstrip("\0").split("\0"))


def check_sdist(sdist: Path) -> None:
    with tarfile.open(sdist) as archive:
        names = {member.name.partition("/")[2] for member in archive.getmembers()}
    for wanted in IN_SDIST:
        if not any(name.startswith(wanted) for name in names):
            fail(f"{sdist.name} has no {wanted}")
    expect_same(sdist, names - MADE_BY_BUILDING, tracked_files())


def check_wheel(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = {name for name in archive.namelist() if ".dist-info/" not in name}
    prefix = "src/"
    ours = {name.removeprefix(prefix) for name in tracked_files() if name.startswith(prefix)}
    expect_same(wheel, names, ours)


def expect_same(archive: Path, names: set[str], expected: set[str]) -> None:
    if names - expected:
        fail(f"{archive.name} has files that git does not track: {sorted(names - expected)}")
    if expected - names:
        fail(f"{archive.name} lacks {sorted(expected - names)}")


def install(environment: Path, *what: str) -> None:
    """Install into an environment, which is created if it does not exist."""
    print(f"Installing {Path(what[-1]).name} into a separate environment.", flush=True)
    python = environment / "bin/python"
    if not python.exists():
        run([sys.executable, "-m", "venv", environment], INSTALL_SECONDS)
    run([python, "-m", "pip", "install", "--quiet", *what], INSTALL_SECONDS, quiet=True)


def smoke(environment: Path, extras: str) -> None:
    with tempfile.TemporaryDirectory(prefix="smoke-") as folder:
        # -I: neither the current folder nor PYTHONPATH is searched for code.
        command = [environment / "bin/python", "-I", SMOKE, extras, folder]
        run(command, SMOKE_SECONDS, cwd=folder)


def run(
    command: list[str | Path], seconds: float, quiet: bool = False, cwd: str | Path = ROOT
) -> None:
    """Run a command; if it takes too long, end it and all processes that it started."""
    output = subprocess.PIPE if quiet else None
    process = subprocess.Popen(
        command, cwd=cwd, stdout=output, stderr=subprocess.STDOUT, text=True, start_new_session=True
    )
    try:
        printed, _ = process.communicate(timeout=seconds)
    except BaseException:
        os.killpg(process.pid, 9)
        process.wait()
        raise
    if process.returncode:
        fail(f"{printed or ''}{' '.join(map(str, command))} ended with {process.returncode}")


def fail(why: str) -> None:
    sys.exit(f"dist failed: {why}")


if __name__ == "__main__":
    main()

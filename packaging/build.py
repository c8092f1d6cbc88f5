"""Builds the bundle of the system it runs on, says what is in it, packs it, and lets it show that it works.

    python dev.py bundle                     everything
    python dev.py bundle --no-pack           without the archive (and on macOS, Windows: the image, the installer)
    python dev.py bundle --no-smoke          without starting what was built
    python dev.py bundle --no-build          with what was built before

The results lie in `dist/`.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import platform
import py_compile
import shutil
import subprocess
import sys
import time
from pathlib import Path

import icons
import leave_out
import licences
import sizes
import system_libraries
from product import NAME

from engine import __version__

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
DIST = ROOT / "dist"
WORK = ROOT / "build" / "backscroll"
"""Where backscroll.spec looks for what is made beforehand: PyInstaller adds the name of the spec to `build`."""

STRIPPED = ("libpython3*", "tokenizers/*.so", "torch/lib/libtorch_*.so", "zstandard/*.so")


def main(argv: list[str]) -> int:
    """Do what the arguments say."""
    parser = argparse.ArgumentParser(prog="dev.py bundle", description=(__doc__ or "").partition("\n")[0])
    for step in ("build", "pack", "smoke"):
        parser.add_argument(f"--no-{step}", dest=step, action="store_false")
    chosen = parser.parse_args(argv)
    if chosen.build:
        build()
    folder = bundle_folder()
    packed = pack(folder) if chosen.pack else []
    print(sizes.report(folder, packed))
    broken = sizes.over_the_limits(folder, packed)
    if chosen.smoke and not (smoke(folder) and test(folder)):
        broken.append("what was built does not pass its tests")
    for each in broken:
        print(f"Failed: {each}.", file=sys.stderr)
    return 1 if broken else 0


def bundle_folder() -> Path:
    """Return the folder that holds the programs."""
    if sys.platform == "darwin":
        return DIST / f"{NAME}.app" / "Contents" / "MacOS"
    return DIST / NAME


def build() -> None:
    """Run PyInstaller.

    Raises:
        SystemExit: It failed.
    """
    started = time.monotonic()
    WORK.mkdir(parents=True, exist_ok=True)
    count = licences.write(WORK / "THIRD-PARTY-LICENSES", licences.declared(ROOT / "pyproject.toml"))
    print(f"THIRD-PARTY-LICENSES names {count} projects.", flush=True)
    icons.write(ROOT / "assets" / "icons" / "app.svg", WORK, sys.platform)
    if sys.platform == "win32":
        (WORK / "version.txt").write_text(version_resource(__version__), encoding="utf-8")
    command = [sys.executable, "-m", "PyInstaller", "--noconfirm", "--log-level=WARN"]
    places = [f"--workpath={WORK.parent}", f"--distpath={DIST}"]
    run([*command, *places, str(HERE / "backscroll.spec")])
    compile_sources(bundle_folder())
    if sys.platform == "linux":
        folder = bundle_folder()
        strip(folder / "_internal")
        system_libraries.add(folder / "_internal" / "THIRD-PARTY-LICENSES", folder / "_internal")
        for name in ("install.sh", "backscroll.desktop"):
            shutil.copy2(HERE / "linux" / name, folder)
        (folder / "VERSION").write_text(f"{__version__}\n", encoding="utf-8")
    elif sys.platform == "darwin":
        run([str(HERE / "macos" / "sign.sh"), str(DIST / f"{NAME}.app")])
    print(f"Built in {time.monotonic() - started:.0f} s.", flush=True)


def compile_sources(folder: Path) -> None:
    """Put compiled modules beside the few that lie in the bundle as sources, so that no start has to compile them."""
    for name in leave_out.WITH_SOURCE:
        for source in sizes.top_folder(folder).rglob(f"{name.replace('.', '/')}.py"):
            # The name is put right when it is loaded; until then it must not be a path of this machine.
            py_compile.compile(
                str(source),
                dfile=source.name,
                doraise=True,
                invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH,
            )


def strip(folder: Path) -> None:
    """Take names for debuggers out of the libraries that hold many: 130 MB, of which the packed bundle has a fifth.

    Only out of these: `strip` breaks libraries whose search path was changed after they were linked, as in numpy.
    """
    files = [file for pattern in STRIPPED for file in folder.glob(pattern) if not file.is_symlink()]
    run(["strip", "--strip-unneeded", *map(str, files)])


def pack(folder: Path) -> list[Path]:
    """Make what is downloaded, and its checksum beside it.

    Raises:
        SystemExit: The system's own packer failed.
    """
    if sys.platform == "linux":
        packed = DIST / f"{NAME}-{__version__}-linux-{platform.machine()}.tar.zst"
        tar_zst(folder, packed, f"{NAME}-{__version__}")
    elif sys.platform == "darwin":
        packed = DIST / f"{NAME}-{__version__}-macos-{platform.machine()}.dmg"
        run([str(HERE / "macos" / "dmg.sh"), str(DIST / f"{NAME}.app"), str(packed)])
    else:
        packed = DIST / f"{NAME}-{__version__}-windows-x86_64.exe"
        run(["iscc", "/Qp", f"/DVersion={__version__}", str(HERE / "windows" / "backscroll.iss")])
    checksum = hashlib.sha256(packed.read_bytes()).hexdigest()
    packed.with_name(f"{packed.name}.sha256").write_text(f"{checksum}  {packed.name}\n", encoding="utf-8")
    return [packed]


def tar_zst(folder: Path, packed: Path, name: str) -> None:
    """Pack a folder, its files owned by nobody in particular."""
    import tarfile  # noqa: PLC0415 - of one system

    import zstandard  # noqa: PLC0415 - as above

    def plain(member: tarfile.TarInfo) -> tarfile.TarInfo:
        member.uid = member.gid = 0
        member.uname = member.gname = ""
        return member

    # A window of 128 MB is what `zstd -d` takes without being asked to. Of the first 60 MB of libtorch_cpu.so level 12
    # made 14.8 MB in 3 s of processor time, 16 made 14.4 MB in 13 s, and 19 made 13.6 MB in 38 s.
    parameters = zstandard.ZstdCompressionParameters(compression_level=16, window_log=27, threads=-1)
    compressor = zstandard.ZstdCompressor(compression_params=parameters)
    with (
        packed.open("wb") as file,
        compressor.stream_writer(file) as stream,
        tarfile.open(fileobj=stream, mode="w|") as tar,
    ):
        # The programs first: tray app and command line are alike in all but a flag, and so near each other the second
        # costs nothing.
        for place in sorted(folder.iterdir(), key=lambda place: (place.is_dir(), place.name.lower())):
            tar.add(place, arcname=f"{name}/{place.name}", filter=plain)


def version_resource(version: str) -> str:
    """Return what Windows shows under Properties, as PyInstaller reads it."""
    numbers = ", ".join([*version.split("."), "0", "0"][:4])
    texts = {
        "CompanyName": NAME,
        "FileDescription": NAME,
        "FileVersion": version,
        "LegalCopyright": "MIT licence",
        "ProductName": NAME,
        "ProductVersion": version,
    }
    strings = ", ".join(f"StringStruct({key!r}, {value!r})" for key, value in texts.items())
    return (
        f"VSVersionInfo(ffi=FixedFileInfo(filevers=({numbers}), prodvers=({numbers}), mask=0x3F, flags=0, OS=0x40004, "
        "fileType=1, subtype=0, date=(0, 0)), kids=["
        f"StringFileInfo([StringTable('040904B0', [{strings}])]), "
        "VarFileInfo([VarStruct('Translation', [1033, 1200])])])\n"
    )


def smoke(folder: Path) -> bool:
    """Start the programs as a person would, without Python and without a network."""
    return call([sys.executable, str(HERE / "smoke.py"), str(folder)]) == 0


def test(folder: Path) -> bool:
    """Run the integration tests with the bundled programs in place of the source."""
    env = {"BACKSCROLL_BUNDLE": str(folder), "PYTHONWARNDEFAULTENCODING": "1", "PYTHONUTF8": "1"}
    return call([sys.executable, "-m", "pytest", "-q", "-m", "frozen", "tests/frozen"], env) == 0


def run(command: list[str]) -> None:
    """Run a program that must succeed."""
    code = call(command)
    if code:
        raise SystemExit(f"{Path(command[0]).name} failed with exit code {code}.")


def call(command: list[str], env: dict[str, str] | None = None) -> int:
    """Run a program in the checkout and return its exit code."""
    sys.stdout.flush()
    return subprocess.run(command, cwd=ROOT, env={**os.environ, **(env or {})}, check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

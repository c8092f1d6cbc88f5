"""What of torch goes into the bundle. Taken in place of PyInstaller's own hook, which takes every module and program.

torch imports half of itself when it is imported, so modules are named that are left out, not those that are taken.
"""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

from leave_out import TORCH, is_below
from PyInstaller.utils.hooks import PY_DYLIB_PATTERNS, collect_dynamic_libs


def modules(folder: Path) -> list[str]:
    """Return the modules that lie in torch's folder. PyInstaller's way of asking would import each, for minutes."""
    places = (file.relative_to(folder.parent).with_suffix("") for file in folder.rglob("*.py"))
    names = (".".join(place.parts).removesuffix(".__init__") for place in places)
    return sorted(name for name in names if name.replace(".", "").isidentifier() and not is_below(name, TORCH))


spec = find_spec("torch")
if spec is None or spec.origin is None:
    raise SystemExit("torch is not installed here.")
TORCH_FOLDER = Path(spec.origin).parent

hiddenimports = modules(TORCH_FOLDER)
binaries = collect_dynamic_libs("torch", search_patterns=[*PY_DYLIB_PATTERNS, "*.so.*"])
# Of its programs the one that it looks for when it is imported.
binaries += [(str(program), "torch/bin") for program in TORCH_FOLDER.glob("bin/torch_shm_manager*")]
warn_on_missing_hiddenimports = False
# torch finds its libraries beside the one it was loaded from: links to them in the top folder mislead it.
bindepend_symlink_suppression = ["**/torch/lib/*.so*"]

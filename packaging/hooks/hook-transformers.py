"""What of transformers goes into the bundle: the machinery, and of 400 models the one that is inside.

It reads its own source files to find out what it exports, so they are taken besides the compiled modules.
"""

from __future__ import annotations

from licences import closure
from PyInstaller.utils.hooks import copy_metadata

# The versions of what it needs are looked up before it is used.
datas: list[tuple[str, str]] = [entry for found in closure(["transformers"]) for entry in copy_metadata(found.name)]

module_collection_mode = "pyz+py"

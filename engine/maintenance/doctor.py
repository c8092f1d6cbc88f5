"""The doctor: runs every check of the registry, and with leave mends what it can in a safe order, a backup first."""

from __future__ import annotations

import logging
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from engine.core.errors import Cancelled, EngineError, InvalidArgument
from engine.core.models.keeping import DoctorReply, Finding
from engine.maintenance.checks import Outcome
from engine.maintenance.checks_around import AROUND_CHECKS
from engine.maintenance.checks_disk import DISK_CHECKS
from engine.maintenance.checks_index import INDEX_CHECKS

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from engine.maintenance.checks import Check, CheckUp, Step

logger = logging.getLogger(__name__)

CHECKS: Final = (*DISK_CHECKS, *INDEX_CHECKS, *AROUND_CHECKS)
"""Every check there is, in the order they run. `docs/reliability.md` lists them, and a test holds it to that."""

_WORST_FIRST: Final = ("error", "warning", "info", "ok")


def examine(checkup: CheckUp, step: Step, checks: Sequence[Check] = CHECKS) -> tuple[tuple[Check, Outcome], ...]:
    """Run the checks and change nothing.

    Args:
        checkup: What they look at.
        step: Told how far it is.
        checks: The registry.

    Raises:
        Cancelled: `step` said so.
    """
    found: list[tuple[Check, Outcome]] = []
    sound = True
    for number, check in enumerate(checks):
        step(number, len(checks), check.title)
        if check.needs_database and not (sound and checkup.paths.database.exists()):
            continue
        outcome = _look(check, checkup)
        if outcome is not None:
            found.append((check, outcome))
            if check.id == "database" and outcome.severity == "error":
                sound = False
    return tuple(found)


def doctor(
    checkup: CheckUp,
    *,
    fix: bool,
    step: Step,
    only: Collection[str] | None = None,
) -> DoctorReply:
    """Return what was found, and what was mended.

    Args:
        checkup: What is looked at.
        fix: Mend what can be mended.
        step: Told how far it is.
        only: Ids of the findings that are mended; None mends all. Every check is run all the same.

    Raises:
        InvalidArgument: No check has such an id.
        Cancelled: `step` said so between two checks or two steps of a fix.
    """
    unknown = sorted(set(only or ()) - {check.id for check in CHECKS})
    if unknown:
        known = ", ".join(check.id for check in CHECKS)
        raise InvalidArgument(f"The doctor has no check {unknown[0][:60]!r}", "", f"It knows: {known}.")
    found = examine(checkup, step)
    findings = {check.id: _finding(check, outcome) for check, outcome in found}
    note = None
    if fix:
        chosen = [each for each in found if only is None or each[0].id in only]
        note = _mend(checkup, chosen, findings, step)
    listed = sorted(findings.values(), key=lambda each: _WORST_FIRST.index(each.severity))
    wrong = [each for each in listed if each.severity in ("error", "warning") and not each.fixed]
    if note is None and not fix and any(each.fix for each in wrong):
        note = "fix=true mends what has a fix; a copy of the index is made before it is changed."
    return DoctorReply(ok=not wrong, findings=tuple(listed), note=note)


def _mend(
    checkup: CheckUp, found: Sequence[tuple[Check, Outcome]], findings: dict[str, Finding], step: Step
) -> str | None:
    fixes = sorted(
        ((check, outcome.fix) for check, outcome in found if outcome.fix is not None), key=lambda each: each[1].order
    )
    saved = None
    replaced = False
    for check, repair in fixes:
        if replaced and check.needs_database:
            continue  # The new database has nothing to mend.
        try:
            if repair.changes_database and saved is None:
                saved = checkup.backups.make("fix", lambda: step(0, None, "Copying the index"))
            step(0, None, f"{check.title}: {repair.what}")
            repair.apply(checkup, step)
        except Cancelled:
            raise
        except (EngineError, OSError) as exc:
            logger.warning("A fix failed (%s)", type(exc).__name__)
            findings[check.id] = replace(
                findings[check.id], fixed=False, means=f"{findings[check.id].means} Mending it failed: {exc}"
            )
            continue
        replaced = replaced or check.id == "database"
        again = _look(check, checkup)
        mended = again is None or again.severity in ("ok", "info")
        findings[check.id] = replace(findings[check.id], fixed=mended)
    return None if saved is None else f"The index before these changes is kept as {saved.name}."


def _look(check: Check, checkup: CheckUp) -> Outcome | None:
    try:
        return check.look(checkup)
    except (EngineError, OSError) as exc:
        return Outcome("error", f"It could not be looked at: {exc}", "Something else is wrong first.")


def _finding(check: Check, outcome: Outcome) -> Finding:
    return Finding(
        id=check.id,
        title=check.title,
        severity=outcome.severity,
        found=outcome.found,
        means=outcome.means,
        fix=None if outcome.fix is None else outcome.fix.what,
    )

"""Writes a session's files back as Claude Code wrote them: from disk what is there, the rest from the archive."""

from __future__ import annotations

from pathlib import Path, PurePosixPath
from typing import IO, TYPE_CHECKING, Protocol

from engine.core.errors import NotFound, StorageFailure
from engine.core.models.keeping import Gap, RestoredFile, RestoreReply
from engine.maintenance.checks import plural
from engine.transcripts.discovery import identify

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence


class LostBytes(Protocol):
    """A stretch of a source that is lost."""

    @property
    def offset(self) -> int:
        """Of its first byte."""
        ...

    @property
    def length(self) -> int | None:
        """Bytes; None when nobody knows."""
        ...


class StoredFiles(Protocol):
    """The archive, as far as restoring reads it."""

    def roots(self) -> Mapping[str, str]:
        """Return the path of each archived root by its label."""
        ...

    def files_of(self, session_id: str, places: Collection[tuple[str, str]]) -> Iterator[tuple[str, str]]:
        """Yield label and path of what is stored of a session: by its id, and beside its transcripts (label, path)."""
        ...

    def generations(self, label: str, path: str) -> tuple[int, ...]:
        """Return the generations of a source that are stored, newest first."""
        ...

    def copy(self, label: str, path: str, generation: int, target: IO[bytes]) -> tuple[int, Sequence[LostBytes]]:
        """Write a stored file's bytes, a line feed in place of what is lost; return how many they were, and that."""
        ...


def restore(
    stored: StoredFiles, places: Collection[tuple[str, str, str, bool]], session_id: str, to: Path
) -> RestoreReply:
    """Write the files of a session into a folder, byte for byte.

    Args:
        stored: The archive.
        places: Root, label, path and whether it is gone, of each transcript that the index knows.
        session_id: The session.
        to: A folder, made when it is not there. Files are never overwritten.

    Raises:
        NotFound: Neither transcripts nor archive hold it.
        StorageFailure: The folder cannot be written, or a file is there already.
    """
    wanted = _files_of(stored, places, session_id)
    # The same session in two roots, such as a synced copy, has the same paths.
    apart = len({label for label, _ in wanted}) > 1
    try:
        files = [
            _write_back(stored, root, label, path, to / label if apart else to)
            for (label, path), root in sorted(wanted.items())
        ]
    except OSError as exc:
        raise StorageFailure(
            "The session cannot be restored",
            f"{exc.filename or to}: {exc.strerror}.",
            "Choose an empty folder that you can write.",
        ) from exc
    found = tuple(each for each in files if each is not None)
    if not found:
        raise NotFound(
            f"Nothing is left of session {session_id}",
            "Its transcript is gone and was not archived; what the index kept is shown by `backscroll show`.",
        )
    return RestoreReply(session_id=session_id, files=found, note=_note(found))


def _note(files: Collection[RestoredFile]) -> str | None:
    """Say what is missing; None when everything is there."""
    damaged = [each for each in files if each.gaps]
    if not damaged:
        return None
    first = damaged[0].gaps[0]
    lost = sum(gap.bytes or 0 for each in damaged for gap in each.gaps)
    is_known = all(gap.bytes is not None for each in damaged for gap in each.gaps)
    amount = plural(lost, "byte") if is_known else f"at least {plural(lost, 'byte')}"
    return (
        f"{plural(len(damaged), 'file')} cannot be restored whole: the archive is damaged, {amount} are lost, first "
        f"from byte {first.offset:,} of {damaged[0].file}. Everything else is there; a line feed stands for each gap."
    )


def _files_of(
    stored: StoredFiles, places: Collection[tuple[str, str, str, bool]], session_id: str
) -> dict[tuple[str, str], Path | None]:
    """Return the files of a session by label and path, each with its root where that is known."""
    wanted: dict[tuple[str, str], Path | None] = {(label, path): Path(root) for root, label, path, _ in places}
    roots = stored.roots()
    for label, path in stored.files_of(session_id, tuple(wanted)):
        wanted.setdefault((label, path), Path(roots[label]) if label in roots else None)
    for root, label, path, _ in places:
        for file in sorted(Path(root, path.removesuffix(".jsonl")).rglob("*")):
            relative = file.relative_to(root).as_posix()
            if file.is_file() and identify(PurePosixPath(relative)) is not None:
                wanted.setdefault((label, relative), Path(root))
    return wanted


def _write_back(stored: StoredFiles, root: Path | None, label: str, path: str, to: Path) -> RestoredFile | None:
    source, target = None if root is None else root / path, to / path
    generations = stored.generations(label, path)
    on_disk = source is not None and source.is_file()
    if not on_disk and not generations:
        return None
    target.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    with target.open("xb") as written:
        target.chmod(0o600)
        try:
            if source is not None and on_disk:
                size = written.write(source.read_bytes())
                return RestoredFile(file=path, bytes=size, source="transcript")
            size, lost = stored.copy(label, path, generations[0], written)
            written.flush()
        except OSError:
            # Half a file would look like a whole one.
            target.unlink()
            raise
    gaps = tuple(Gap(offset=each.offset, bytes=each.length) for each in lost)
    return RestoredFile(file=path, bytes=size, source="archive", damaged=True if gaps else None, gaps=gaps)

"""The refusals of Knowledge, one class per stable code (contract section 3, point 1)."""

from __future__ import annotations

from typing import ClassVar

from engine.core.errors import EngineError, InvalidArgument, NotFound, StorageFailure

__all__ = [
    "AmbiguousEntity",
    "EmptyQuery",
    "EvidenceRefused",
    "HashConflict",
    "InvalidArgument",
    "InvalidDate",
    "InvalidRange",
    "InvalidRecord",
    "InvalidTimeZone",
    "LifecycleConflict",
    "NotAuthorized",
    "PublicationConflict",
    "QueryTooLong",
    "RecordNotFound",
    "RequestConflict",
    "RevisionConflict",
    "ScanLimitReached",
    "SnapshotChanged",
    "StoreIdentityMismatch",
    "StoreUnavailable",
    "TooManyTokens",
    "UnknownEntity",
    "error_reply",
]


class EmptyQuery(EngineError):
    """The query holds no word."""

    code: ClassVar[str] = "empty_query"


class QueryTooLong(EngineError):
    """The query has more characters (UTF-16 units) than allowed."""

    code: ClassVar[str] = "query_too_long"


class TooManyTokens(EngineError):
    """The query has more than 64 words (R19)."""

    code: ClassVar[str] = "too_many_tokens"


class InvalidDate(EngineError):
    """A date is neither an existing `YYYY-MM-DD` nor a full timestamp with seconds and zone (R90)."""

    code: ClassVar[str] = "invalid_date"


class InvalidRange(EngineError):
    """`since` lies after `until` (R97)."""

    code: ClassVar[str] = "invalid_range"


class InvalidTimeZone(EngineError):
    """The name is not one of the tz database (R138)."""

    code: ClassVar[str] = "invalid_time_zone"


class UnknownEntity(EngineError):
    """No available record has this id or exact name (R110)."""

    code: ClassVar[str] = "unknown_entity"


class AmbiguousEntity(EngineError):
    """Several records have this exact name (R110); `candidates` lists their ids."""

    code: ClassVar[str] = "ambiguous_entity"


class SnapshotChanged(EngineError):
    """The store or the filters changed since the page before (R116)."""

    code: ClassVar[str] = "snapshot_changed"


class RecordNotFound(NotFound):
    """No single record has this id."""


class RevisionConflict(EngineError):
    """The record has another revision than the caller read."""

    code: ClassVar[str] = "revision_conflict"


class HashConflict(EngineError):
    """The file has other bytes than the caller read."""

    code: ClassVar[str] = "hash_conflict"


class RequestConflict(EngineError):
    """The request id was used for another request."""

    code: ClassVar[str] = "request_conflict"


class LifecycleConflict(EngineError):
    """The record's lifecycle does not allow this change."""

    code: ClassVar[str] = "lifecycle_conflict"


class InvalidRecord(InvalidArgument):
    """The record to be written would not be valid; the text names the field."""


class EvidenceRefused(EngineError):
    """Evidence cannot be retained: no message or several hold the quote, or the file is not what was announced."""

    code: ClassVar[str] = "evidence_refused"


class NotAuthorized(EngineError):
    """The caller holds no grant for this scope (R77)."""

    code: ClassVar[str] = "not_authorized"


class StoreUnavailable(StorageFailure):
    """There is no store, or one that lost a part. Never re-created silently (R82, R155)."""

    code: ClassVar[str] = "store_unavailable"


class StoreIdentityMismatch(StorageFailure):
    """`state.sqlite` belongs to another store than the manifest (R77)."""

    code: ClassVar[str] = "store_identity"


class PublicationConflict(EngineError):
    """A file named by an unfinished publication is neither its old nor its new version (R77)."""

    code: ClassVar[str] = "publication_conflict"


class ScanLimitReached(EngineError):
    """The vault is larger than the scan limits (R77)."""

    code: ClassVar[str] = "scan_limit"


def error_reply(error: EngineError) -> dict[str, object]:
    """Return an error in the form of the contract: `{error: {code, message, hint?, details?}}`."""
    body: dict[str, object] = {"code": error.code, "message": " ".join(filter(None, (error.title, error.message)))}
    if error.hint:
        body["hint"] = error.hint
    if error.candidates:
        body["details"] = {"candidates": list(error.candidates)}
    return {"error": body}

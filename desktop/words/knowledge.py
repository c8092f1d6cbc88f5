"""The Knowledge window: its views, a record and the state of what it rests on."""

from __future__ import annotations

from typing import Final

from desktop.words.amounts import number_of

TITLE: Final = "Knowledge"
VIEWS: Final = {"search": "Search", "timeline": "Timeline", "day": "Day"}
VIEW: Final = "What the list shows"
HINT: Final = "Words, an id, a title or an alias"
ENTITY: Final = "A person, project or thing: its id or exact name"
LIST: Final = "Records"
RECORD: Final = "Record"
CHOOSE: Final = "Choose a record to read it here"
NONE: Final = "Nothing found."
NOTHING_ON: Final = "Nothing is recorded for this time."
WHOSE: Final = "Type whose timeline you want to see."
NOBODY: Final = "Nothing is called exactly so, and no page speaks of it."
DID_YOU_MEAN: Final = "Did you mean"
NO_ENGINE: Final = "The engine is not running yet."
WEEK: Final = "Whole week"
DATE: Final = "Day"
EARLIER: Final = "Earlier"
LATER_DAY: Final = "Later"
STEP_BACK: Final = "‹"
STEP_ON: Final = "›"
EDITOR: Final = "Open in editor"
TIMELINE: Final = "Timeline"
COPY: Final = "Copy citation"
EVIDENCE: Final = "Evidence"
FINDINGS: Final = "Findings"
KNOWN_ABOUT_IT: Final = "Recorded about it"
EVIDENCE_STATES: Final = {
    "verified": "verified",
    "no_descriptor": "not verified: its description is missing",
    "no_file": "not verified: the retained original is missing",
    "changed": "not verified: the retained original was changed",
    "no_lines": "not verified: the original has no such lines",
    "no_quote": "not verified: the original does not say this",
}
TRANSCRIPT_STATES: Final = {
    "verified": "the transcript still says so",
    "changed": "the transcript says something else now",
    "gone": "the transcript is gone; this copy remains",
}
RECORD_FIELDS: Final = {
    "supersededBy": "Superseded by",
    "mergedInto": "Merged into",
    "supersedes": "Supersedes",
    "occurredAt": "Occurred",
    "dueAt": "Due",
    "validUntil": "Valid until",
    "from": "From",
    "to": "To",
    "owner": "Owner",
    "said": "Said by",
    "entities": "About",
    "sources": "Sources",
    "dependencies": "Depends on",
    "aliases": "Aliases",
    "tags": "Tags",
    "change": "Why",
    "recordedAt": "Recorded",
    "path": "File",
}


def record_citation(title: str, id_: str, path: str) -> str:
    return f"{title} ({id_}, {path})"


def found_by_earlier(wording: str) -> str:
    return f"found by an earlier wording: {wording}"


def said_how(by: str, how: str) -> str:
    return f"{by} ({how})"


def quoted(text: str) -> str:
    return f"“{text}”"


def lines_of(first: int, last: int) -> str:
    return f"line {first}" if first == last else f"lines {first} to {last}"


def records_of(shown_: int, total: int) -> str:
    return (
        number_of(total, "record", "records")
        if shown_ >= total
        else f"{shown_:,} of {number_of(total, 'record', 'records')}"
    )


def incomplete_store(number: int) -> str:
    return f"{number_of(number, 'finding', 'findings')} in the store: this may be incomplete. Run doctor says more."


def tag(name: str) -> str:
    return f"#{name}"

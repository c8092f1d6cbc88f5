"""The reading tools of Knowledge."""

from __future__ import annotations

from dataclasses import replace

from engine.knowledge.arguments import Arg
from engine.knowledge.queries import (
    DayQuery,
    GrepQuery,
    HistoryQuery,
    LastSeenQuery,
    LookupQuery,
    MutationQuery,
    OntologyQuery,
    RecordQuery,
    RecordsQuery,
    SinceQuery,
    TimelineQuery,
)
from engine.knowledge.records import LIFECYCLES
from engine.knowledge.tools_spec import (
    DATE_FIELD,
    ENTITY,
    EXACT_KIND,
    KIND,
    ORDER,
    SINCE,
    SNAPSHOT,
    TAG,
    TYPE,
    UNTIL,
    VIEW,
    ToolSpec,
    limit,
    offset,
)

_LIFECYCLE = Arg("lifecycle", "string", choices=("active", "superseded", "all"))

READ_TOOLS: tuple[ToolSpec, ...] = (
    ToolSpec(
        "knowledge_grep",
        'Use when asked what was decided, promised, preferred or known: "what did we decide about…". Keyword '
        "search in the records kept on purpose: whole words, no operators. Never exhaustive: knowledge_records is.",
        (
            Arg("query", "string", required=True),
            Arg("mode", "string", choices=("all", "any", "phrase")),
            KIND,
            TYPE,
            TAG,
            _LIFECYCLE,
            DATE_FIELD,
            SINCE,
            UNTIL,
            Arg("minScore", "number"),
            limit(50),
            offset(500),
            VIEW,
        ),
        "grep",
        GrepQuery,
    ),
    ToolSpec(
        "knowledge_lookup",
        "Use when you have an exact id, full title or alias: found, ambiguous or missing. Nothing is guessed; "
        "words go to knowledge_grep.",
        (
            Arg("query", "string", required=True),
            KIND,
            TYPE,
            TAG,
            _LIFECYCLE,
            limit(50),
            offset(500),
            VIEW,
        ),
        "lookup",
        LookupQuery,
    ),
    ToolSpec(
        "knowledge_records",
        "Use for the complete list of records: every file whatever its state, broken and withdrawn ones with the "
        "reason.",
        (
            KIND,
            TYPE,
            TAG,
            Arg("lifecycle", "string", choices=LIFECYCLES),
            limit(100),
            offset(50_000),
            SNAPSHOT,
            VIEW,
        ),
        "records",
        RecordsQuery,
    ),
    ToolSpec(
        "knowledge_record",
        "Use to read one record in full: body, dates, evidence with its verified text, revision and hash (needed "
        "to change it), findings.",
        (
            Arg("id", "string", required=True),
            Arg("bodyOffset", "integer", minimum=0, maximum=10_000_000),
            Arg("maxChars", "integer", minimum=256, maximum=65_536),
        ),
        "record",
        RecordQuery,
    ),
    ToolSpec(
        "knowledge_timeline",
        "Use for what happened when, by dates only: an entity's history, decisions in a range, deadlines (due_at), "
        "what was recorded lately (recorded_at). Expired and superseded records need eligibility. group=source "
        "(with entity): each meeting or document once.",
        (
            ENTITY,
            EXACT_KIND,
            DATE_FIELD,
            SINCE,
            UNTIL,
            ORDER,
            Arg("eligibility", "string", choices=("active", "include_inactive")),
            Arg("includeSources", "boolean"),
            Arg("group", "string", choices=("source",)),
            limit(50),
            offset(),
            SNAPSHOT,
            VIEW,
        ),
        "timeline",
        TimelineQuery,
    ),
    ToolSpec(
        "knowledge_chronicle_day",
        "Use for what occurred on one day, or in the Monday-Sunday week around it. Resolve words like yesterday first.",
        (
            Arg("date", "string", "YYYY-MM-DD", required=True),
            Arg("week", "boolean"),
            Arg("timeZone", "string"),
            EXACT_KIND,
            ORDER,
            limit(50),
            offset(),
            SNAPSHOT,
            VIEW,
        ),
        "chronicle_day",
        DayQuery,
    ),
    ToolSpec(
        "knowledge_chronicle_since",
        "Use for what occurred since a date, oldest first; what was recorded since: knowledge_timeline.",
        (
            replace(SINCE, required=True),
            UNTIL,
            EXACT_KIND,
            limit(50),
            offset(),
            SNAPSHOT,
            VIEW,
        ),
        "chronicle_since",
        SinceQuery,
    ),
    ToolSpec(
        "knowledge_chronicle_last_seen",
        "Use for the latest dated record linked to an entity: no proof of contact or presence; a miss proves nothing.",
        (
            replace(ENTITY, required=True),
            Arg("occurredOnOrBefore", "string"),
            VIEW,
        ),
        "chronicle_last_seen",
        LastSeenQuery,
    ),
    ToolSpec(
        "knowledge_ontology",
        "Use to see which page types, claim kinds and predicates exist before recording: names (catalog), fields "
        "and endpoints (definitions), the YAML (sources).",
        (
            Arg("view", "string", choices=("catalog", "definitions", "sources", "diagnostics")),
            Arg("name", "string"),
            KIND,
            Arg("includeRecords", "boolean"),
            Arg("sourcePath", "string"),
            Arg("maxChars", "integer", minimum=256, maximum=65_536),
            Arg("limit", "integer", minimum=1, maximum=100),
            offset(1_000_000),
        ),
        "ontology",
        OntologyQuery,
    ),
    ToolSpec(
        "knowledge_history",
        "Use to see how a record came about: publications and hand edits, newest first. With revision: the text it "
        "had then.",
        (
            Arg("id", "string"),
            Arg("revision", "integer", minimum=1, maximum=1_000_000),
            limit(50),
            offset(1_000_000),
        ),
        "history",
        HistoryQuery,
    ),
    ToolSpec(
        "knowledge_mutation",
        "Use to see what became of a write: its receipt. indexed false: the next search indexes it, nothing failed.",
        (Arg("requestId", "string", required=True),),
        "mutation",
        MutationQuery,
    ),
)

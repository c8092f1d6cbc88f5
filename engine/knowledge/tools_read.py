"""The reading tools of Knowledge."""

from __future__ import annotations

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

_LIFECYCLE = Arg("lifecycle", "string", "default active", choices=("active", "superseded", "all"))

READ_TOOLS: tuple[ToolSpec, ...] = (
    ToolSpec(
        "knowledge_grep",
        "Use when asked what was decided, promised, preferred or known about something: keyword search in the records "
        "kept on purpose. Whole words, case and accents ignored, no stemming, wildcards or operators. mode: all words "
        "(default), any, phrase. A hit found through an outdated wording returns the current record and names the "
        "old one in via. Ranked, never exhaustive: knowledge_records lists everything. total null means the index is "
        "down, not that nothing matches.",
        (
            Arg("query", "string", "1-64 words, at most 500 characters", required=True),
            Arg("mode", "string", choices=("all", "any", "phrase")),
            KIND,
            TYPE,
            TAG,
            _LIFECYCLE,
            DATE_FIELD,
            SINCE,
            UNTIL,
            Arg("minScore", "number", "drop hits below this score, and replacements, which have none"),
            limit(50, 20),
            offset(500),
            VIEW,
        ),
        "grep",
        GrepQuery,
    ),
    ToolSpec(
        "knowledge_lookup",
        "Use when you have an exact id, full title or alias and want that record: found, ambiguous or missing. Case, "
        "width and blanks do not matter, nothing is guessed; search words with knowledge_grep.",
        (
            Arg("query", "string", "at most 200 characters", required=True),
            KIND,
            TYPE,
            TAG,
            _LIFECYCLE,
            limit(50, 20),
            offset(500),
            VIEW,
        ),
        "lookup",
        LookupQuery,
    ),
    ToolSpec(
        "knowledge_records",
        "Use for the complete list of records: every file whatever its state, broken, duplicate, withdrawn and "
        "unavailable ones flagged with the reason. Exhaustive, in path order, works without the search index.",
        (
            KIND,
            TYPE,
            TAG,
            Arg("lifecycle", "string", "default all", choices=LIFECYCLES),
            limit(100, 50),
            offset(50_000),
            SNAPSHOT,
            VIEW,
        ),
        "records",
        RecordsQuery,
    ),
    ToolSpec(
        "knowledge_record",
        "Use to read one record in full: body, dates, references, every piece of evidence with its verified text, "
        "revision and hash (needed to change it), and findings about it.",
        (
            Arg("id", "string", required=True),
            Arg("bodyOffset", "integer", "continue a long body", minimum=0, maximum=10_000_000),
            Arg("maxChars", "integer", "of the body, default 12000", minimum=256, maximum=65_536),
        ),
        "record",
        RecordQuery,
    ),
    ToolSpec(
        "knowledge_timeline",
        "Use for what happened when, by structured dates only: one entity's history, decisions in a range, recent "
        "imports (timeField recorded_at or updated_at), deadlines (due_at). kind is an exact record type. Expired and "
        "superseded records need eligibility include_inactive. group source (with entity): each meeting or document "
        "once, with what was noted there. No match is no proof of absence.",
        (
            ENTITY,
            EXACT_KIND,
            DATE_FIELD,
            SINCE,
            UNTIL,
            Arg("order", "string", "default desc", choices=("asc", "desc")),
            Arg("eligibility", "string", "default active", choices=("active", "include_inactive")),
            Arg("includeSources", "boolean", "add summaries of the rows' sources"),
            Arg("group", "string", choices=("source",)),
            limit(50, 20),
            offset(),
            SNAPSHOT,
            VIEW,
        ),
        "timeline",
        TimelineQuery,
    ),
    ToolSpec(
        "knowledge_chronicle_day",
        "Use for what occurred on one calendar day, or in the Monday-Sunday week around it, in a time zone. Resolve "
        "words like yesterday to a date first.",
        (
            Arg("date", "string", "YYYY-MM-DD", required=True),
            Arg("week", "boolean"),
            Arg("timeZone", "string", "IANA name, default UTC"),
            EXACT_KIND,
            ORDER,
            limit(50, 20),
            offset(),
            SNAPSHOT,
            VIEW,
        ),
        "chronicle_day",
        DayQuery,
    ),
    ToolSpec(
        "knowledge_chronicle_since",
        "Use for what occurred since a date, oldest first. By the time things happened, not by when they were "
        "recorded; for recent imports use knowledge_timeline.",
        (
            Arg("since", "string", "YYYY-MM-DD or timestamp with seconds and zone, inclusive", required=True),
            UNTIL,
            EXACT_KIND,
            limit(50, 20),
            offset(),
            SNAPSHOT,
            VIEW,
        ),
        "chronicle_since",
        SinceQuery,
    ),
    ToolSpec(
        "knowledge_chronicle_last_seen",
        "Use for the most recent dated record linked to a person, project or other entity, up to now or a given date. "
        "A record is no proof that anybody met or attended; a miss proves nothing.",
        (
            Arg("entity", "string", "record id or exact name", required=True),
            Arg("occurredOnOrBefore", "string", "date or timestamp, default now"),
            VIEW,
        ),
        "chronicle_last_seen",
        LastSeenQuery,
    ),
    ToolSpec(
        "knowledge_ontology",
        "Use to see which page types, claim kinds and predicates exist before recording something. view catalog "
        "(default), definitions (fields, endpoints), sources (the YAML), diagnostics.",
        (
            Arg("view", "string", choices=("catalog", "definitions", "sources", "diagnostics")),
            Arg("name", "string", "one type, with definitions"),
            KIND,
            Arg("includeRecords", "boolean", "up to 20 records of each type"),
            Arg("sourcePath", "string", "with sources: ontology.yaml"),
            Arg("maxChars", "integer", "with sourcePath, default 12000", minimum=256, maximum=65_536),
            Arg("limit", "integer", "default 50, definitions 10", minimum=1, maximum=100),
            offset(1_000_000),
        ),
        "ontology",
        OntologyQuery,
    ),
    ToolSpec(
        "knowledge_history",
        "Use to see how a record came about: every publication and hand edit, newest first, with receipts. With "
        "revision: the exact text it had.",
        (
            Arg("id", "string"),
            Arg("revision", "integer", "also return the text of this revision", minimum=1, maximum=1_000_000),
            limit(50, 20),
            offset(1_000_000),
        ),
        "history",
        HistoryQuery,
    ),
    ToolSpec(
        "knowledge_mutation",
        "Use to see what became of a write: its receipt by request id. indexed false means the next search indexes it, "
        "not that it failed; git.state tells its local checkpoint.",
        (Arg("requestId", "string", required=True),),
        "mutation",
        MutationQuery,
    ),
)

"""The tables of the history, version by version. `migrations` applies what a database does not have yet.

Units: times are epoch milliseconds UTC, sizes and offsets are bytes.
"""

from __future__ import annotations

VERSION_1 = """
CREATE TABLE meta (name TEXT PRIMARY KEY, value) WITHOUT ROWID;

CREATE TABLE roots (
    id INTEGER PRIMARY KEY,
    path TEXT NOT NULL UNIQUE,
    label TEXT NOT NULL
);

-- One transcript file. `offset` is committed together with the rows that the bytes before it became.
CREATE TABLE files (
    id INTEGER PRIMARY KEY,
    root_id INTEGER NOT NULL,
    path TEXT NOT NULL,              -- below the root, with forward slashes
    session_id INTEGER,              -- the session it belongs to; null until its first line was read
    inode INTEGER NOT NULL DEFAULT 0,
    size INTEGER NOT NULL DEFAULT 0, -- as last read
    mtime_ns INTEGER NOT NULL DEFAULT 0,
    offset INTEGER NOT NULL DEFAULT 0,
    tail BLOB,                       -- hash of the bytes before the offset: tells an append from a rewrite
    lines INTEGER NOT NULL DEFAULT 0,
    first_ms INTEGER,                -- of its first line with a time
    generation INTEGER NOT NULL DEFAULT 0, -- grows when the file was rewritten
    exchange_id INTEGER,             -- message that the next lines answer
    side_exchange_id INTEGER,
    parser TEXT,                     -- ParserState
    gone_ms INTEGER,                 -- when the file was found to be missing
    error TEXT,                      -- why it could not be read
    UNIQUE (root_id, path)
);
CREATE INDEX files_session ON files (session_id);

CREATE TABLE problems (
    file_id INTEGER NOT NULL,
    offset INTEGER NOT NULL,
    line INTEGER NOT NULL,
    what TEXT NOT NULL,
    salvaged INTEGER NOT NULL,
    PRIMARY KEY (file_id, offset)
) WITHOUT ROWID;

CREATE TABLE kept_types (            -- records that are not indexed, by type and file
    file_id INTEGER NOT NULL,
    type TEXT NOT NULL,
    known INTEGER NOT NULL,
    lines INTEGER NOT NULL,
    PRIMARY KEY (file_id, type)
) WITHOUT ROWID;

CREATE TABLE projects (id INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE);
CREATE TABLE folders (               -- working directories
    id INTEGER PRIMARY KEY,
    cwd TEXT NOT NULL UNIQUE,
    project_id INTEGER NOT NULL,
    weight INTEGER NOT NULL          -- how sure the project is (engine/core/repository.py)
);
CREATE TABLE tools (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
CREATE TABLE models (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);

-- What is shown of a session, made from `file_sessions` and `summaries`.
CREATE TABLE sessions (
    id INTEGER PRIMARY KEY,
    session_id TEXT NOT NULL UNIQUE,
    folder_id INTEGER,               -- of its first message
    started_ms INTEGER,
    last_ms INTEGER,
    branch TEXT,
    version TEXT,
    custom_title TEXT,
    ai_title TEXT,
    last_prompt TEXT,
    summary TEXT,
    summary_ms INTEGER,              -- time of the message that the summary is about
    opening TEXT,                    -- first human prompt
    parent TEXT,                     -- session id it came from
    parent_kind TEXT                 -- resumed, forked, background, continued
);
CREATE INDEX sessions_last ON sessions (last_ms);

-- What one file says about one session. Only the file's own bytes decide it, so sessions do not depend on the order in
-- which files are read.
CREATE TABLE file_sessions (
    file_id INTEGER NOT NULL,
    session_id INTEGER NOT NULL,
    main INTEGER NOT NULL DEFAULT 0, -- holds messages that are no sub-agent's
    first_ms INTEGER,
    last_ms INTEGER,
    folder_id INTEGER,
    branch TEXT,
    version TEXT,
    custom_title TEXT,
    ai_title TEXT,
    last_prompt TEXT,
    summary TEXT,
    opening TEXT,
    parent TEXT,
    parent_kind TEXT,
    PRIMARY KEY (file_id, session_id)
) WITHOUT ROWID;
CREATE INDEX file_sessions_session ON file_sessions (session_id);

CREATE TABLE summaries (             -- titles by the message they are about, which may be in any file
    leaf INTEGER NOT NULL,           -- key of the message
    text TEXT NOT NULL,
    PRIMARY KEY (leaf, text)
) WITHOUT ROWID;

CREATE TABLE agents (                -- sub-agents: what started them and what they are for
    session_id INTEGER NOT NULL,
    agent TEXT NOT NULL,             -- as in messages.agent
    tool_use TEXT,                   -- id of the call that started it
    kind TEXT,
    description TEXT,
    parent TEXT,                     -- the sub-agent that started it
    PRIMARY KEY (session_id, agent)
) WITHOUT ROWID;

-- One message, in the session that said it first. Further occurrences are in `copies`.
CREATE TABLE messages (
    id INTEGER PRIMARY KEY,
    key INTEGER NOT NULL UNIQUE,     -- 60 bits of the uuid's hash, the first part of a chunk_id
    uuid NOT NULL,                   -- 16 bytes, or text where it is no UUID
    parent INTEGER,                  -- key of the parent
    fingerprint INTEGER NOT NULL,    -- the same in a copy with another uuid
    session_id INTEGER NOT NULL,
    file_id INTEGER NOT NULL,
    offset INTEGER NOT NULL,         -- of its line
    length INTEGER NOT NULL,         -- of its line, with the line feed
    part INTEGER NOT NULL,           -- which record of a damaged line
    generation INTEGER NOT NULL,     -- of the file when it was seen; older than the file's: a rewrite removed it
    time_ms INTEGER,
    role INTEGER NOT NULL,
    sidechain INTEGER NOT NULL,
    copied INTEGER NOT NULL,         -- the line says it was copied from elsewhere
    copy_kind INTEGER NOT NULL,      -- what it is when another session said it first
    folder_id INTEGER,
    model_id INTEGER,
    agent TEXT,
    exchange_id INTEGER NOT NULL     -- message that began the exchange (its own id for a prompt)
);
CREATE INDEX messages_place ON messages (file_id, offset);
CREATE INDEX messages_session ON messages (session_id, sidechain, role);
CREATE INDEX messages_fingerprint ON messages (fingerprint, parent);
CREATE INDEX messages_exchange ON messages (exchange_id);

CREATE TABLE copies (                -- the same message in another file (resume, fork, background copy)
    file_id INTEGER NOT NULL,
    offset INTEGER NOT NULL,
    part INTEGER NOT NULL,
    message_id INTEGER NOT NULL,
    session_id INTEGER NOT NULL,
    key INTEGER NOT NULL,            -- differs from the message's where the copy got a new uuid
    uuid NOT NULL,
    length INTEGER NOT NULL,
    generation INTEGER NOT NULL,
    time_ms INTEGER,
    copy_kind INTEGER NOT NULL,
    parent INTEGER,
    PRIMARY KEY (file_id, offset, part)
) WITHOUT ROWID;
CREATE INDEX copies_message ON copies (message_id);
CREATE INDEX copies_session ON copies (session_id);
CREATE INDEX copies_key ON copies (key);

CREATE TABLE claims (                -- messages that say which message they are copies of (SDK forks)
    original INTEGER PRIMARY KEY,    -- its key; it may not have been seen
    message_id INTEGER NOT NULL
);
CREATE INDEX claims_message ON claims (message_id);

-- One block. Small rows: ranking joins thousands of them. What filters need is repeated from the message.
CREATE TABLE chunks (
    id INTEGER PRIMARY KEY,
    message_id INTEGER NOT NULL,
    block INTEGER NOT NULL,
    kind INTEGER NOT NULL,
    signal INTEGER NOT NULL,
    role INTEGER NOT NULL,
    sidechain INTEGER NOT NULL,
    failed INTEGER NOT NULL,
    tool_id INTEGER,
    session_id INTEGER NOT NULL,
    folder_id INTEGER,
    time_ms INTEGER,
    exchange_id INTEGER NOT NULL,
    cut INTEGER NOT NULL             -- characters left out of the text
);
CREATE INDEX chunks_message ON chunks (message_id, block);
CREATE INDEX chunks_exchange ON chunks (exchange_id);

-- Of the chunk with the same id: as it is, or packed (engine/store/texts.py).
CREATE TABLE texts (id INTEGER PRIMARY KEY, text TEXT NOT NULL);

-- `words`: exact words, each CJK letter one. `parts`: parts of identifiers, English stems (engine/core/text.py).
CREATE VIRTUAL TABLE search USING fts5 (
    words, parts,
    content = '', contentless_delete = 1,
    tokenize = "unicode61 remove_diacritics 0 categories 'L* N*'"
);
CREATE VIRTUAL TABLE vocabulary USING fts5vocab (search, col);
"""

/** The tables, as numbered steps; step N brings a database of version N−1 to version N. Never change one that was released. */
export const MIGRATIONS: readonly string[] = [
  `
  CREATE TABLE sessions (
    id TEXT PRIMARY KEY,
    title TEXT NOT NULL DEFAULT '',
    root TEXT NOT NULL,
    mode TEXT NOT NULL DEFAULT 'agent',
    model TEXT NOT NULL,
    parent TEXT,
    created INTEGER NOT NULL,
    updated INTEGER NOT NULL,
    archived INTEGER NOT NULL DEFAULT 0,
    -- Turns begun so far.
    turns INTEGER NOT NULL DEFAULT 0,
    -- JSON: what tools and the user have set in this session.
    memory TEXT NOT NULL DEFAULT '{}',
    branch TEXT
  ) WITHOUT ROWID;

  -- The log from which the screen is drawn again.
  CREATE TABLE events (
    session TEXT NOT NULL REFERENCES sessions(id) ON DELETE CASCADE,
    seq INTEGER NOT NULL,
    turn INTEGER NOT NULL,
    kind TEXT NOT NULL,
    payload TEXT NOT NULL,
    time INTEGER NOT NULL,
    -- A turn is read without what came before it.
    PRIMARY KEY (session, turn, seq)
  ) WITHOUT ROWID;

  -- The log from which the model's history is built again.
  CREATE TABLE messages (
    session TEXT NOT NULL REFERENCES sessions(id) ON DELETE CASCADE,
    seq INTEGER NOT NULL,
    turn INTEGER NOT NULL,
    role TEXT NOT NULL,
    payload TEXT NOT NULL,
    PRIMARY KEY (session, turn, seq)
  ) WITHOUT ROWID;

  -- Contents that payloads of a session name. A column that names a content is called blob or something_blob: what
  -- none of them names any more is removed.
  CREATE TABLE payload_blobs (
    session TEXT NOT NULL REFERENCES sessions(id) ON DELETE CASCADE,
    blob TEXT NOT NULL,
    PRIMARY KEY (session, blob)
  ) WITHOUT ROWID;
  CREATE INDEX payload_blobs_of ON payload_blobs(blob);

  -- Contents that a deleted session has named, and when it was deleted: those that nobody else names go too.
  CREATE TABLE unnamed_contents (
    sha256 TEXT PRIMARY KEY,
    time INTEGER NOT NULL
  ) WITHOUT ROWID;

  -- Contents, shared by all that name them. Deflated: 0 no, 1 yes, 2 in parts.
  CREATE TABLE blobs (
    sha256 TEXT PRIMARY KEY,
    size INTEGER NOT NULL,
    deflated INTEGER NOT NULL,
    bytes BLOB NOT NULL
  );

  -- Each part is deflated by itself. They are written before their blob, so nothing refers from here to there.
  CREATE TABLE blob_parts (
    sha256 TEXT NOT NULL,
    part INTEGER NOT NULL,
    bytes BLOB NOT NULL,
    PRIMARY KEY (sha256, part)
  );
  CREATE TRIGGER blob_parts_gone AFTER DELETE ON blobs BEGIN
    DELETE FROM blob_parts WHERE sha256 = old.sha256;
  END;

  CREATE TABLE checkpoints (
    -- Never used again: others refer to it.
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    session TEXT NOT NULL REFERENCES sessions(id) ON DELETE CASCADE,
    turn INTEGER NOT NULL,
    -- 'tool', 'command', 'undo', 'redo' or 'restore'
    kind TEXT NOT NULL,
    tool_call TEXT,
    -- Of undo, redo and restore: the turn that they are about.
    target INTEGER,
    -- 0: begun, and the images after are not known.
    finished INTEGER NOT NULL DEFAULT 0,
    -- Unfinished: what makes it still ran then.
    alive INTEGER NOT NULL DEFAULT 0,
    -- Of undo, redo and restore: the model knows of it.
    told INTEGER NOT NULL DEFAULT 0,
    time INTEGER NOT NULL
  );
  CREATE INDEX checkpoints_of ON checkpoints(session, turn);
  CREATE INDEX checkpoints_unfinished ON checkpoints(session) WHERE finished = 0;

  -- A side without a type is a file that is not there. A link's blob is its target. A blob of a
  -- file that was too large is not kept.
  CREATE TABLE checkpoint_files (
    checkpoint INTEGER NOT NULL REFERENCES checkpoints(id) ON DELETE CASCADE,
    path TEXT NOT NULL,
    renamed_from TEXT,
    before_type TEXT,
    before_mode INTEGER,
    before_blob TEXT,
    after_type TEXT,
    after_mode INTEGER,
    after_blob TEXT,
    -- The checkpoint that took this change back.
    undone_by INTEGER,
    PRIMARY KEY (checkpoint, path)
  ) WITHOUT ROWID;
  CREATE INDEX checkpoint_files_of ON checkpoint_files(path);

  -- The project's files as they were when they were looked at last, around commands.
  CREATE TABLE scanned_files (
    path TEXT PRIMARY KEY,
    type TEXT NOT NULL,
    mode INTEGER,
    blob TEXT,
    size INTEGER NOT NULL,
    mtime REAL NOT NULL,
    ctime REAL NOT NULL,
    ino INTEGER NOT NULL,
    -- 0: the file was so new then that a later change may not show in its times.
    settled INTEGER NOT NULL
  ) WITHOUT ROWID;

  -- Files with changes that the user has not looked at.
  CREATE TABLE reviews (
    path TEXT PRIMARY KEY,
    session TEXT NOT NULL REFERENCES sessions(id) ON DELETE CASCADE,
    turn INTEGER NOT NULL,
    renamed_from TEXT,
    before_type TEXT,
    before_mode INTEGER,
    before_blob TEXT,
    after_type TEXT,
    after_mode INTEGER,
    after_blob TEXT
  ) WITHOUT ROWID;

  CREATE TABLE usage (
    id INTEGER PRIMARY KEY,
    session TEXT NOT NULL,
    turn INTEGER NOT NULL,
    -- 'turn', 'title' or 'summary'
    purpose TEXT NOT NULL DEFAULT 'turn',
    provider TEXT NOT NULL,
    model TEXT NOT NULL,
    -- 0: the provider has not told the tokens, which are 0 then.
    reported INTEGER NOT NULL,
    input INTEGER NOT NULL,
    output INTEGER NOT NULL,
    cached_read INTEGER NOT NULL,
    cached_write INTEGER NOT NULL,
    cost REAL,
    first_token_ms INTEGER,
    all_ms INTEGER NOT NULL,
    -- JSON: calls by tool
    tools TEXT NOT NULL DEFAULT '{}',
    invalid_calls INTEGER NOT NULL DEFAULT 0,
    time INTEGER NOT NULL
  );
  CREATE INDEX usage_of ON usage(session, turn);
  CREATE INDEX usage_at ON usage(time);

  CREATE TABLE approvals (
    id INTEGER PRIMARY KEY,
    session TEXT NOT NULL REFERENCES sessions(id) ON DELETE CASCADE,
    turn INTEGER NOT NULL,
    tool_call TEXT NOT NULL,
    answer TEXT NOT NULL,
    rule TEXT NOT NULL,
    time INTEGER NOT NULL
  );

  -- Temporary files of writes that go on, or that a crash has ended.
  CREATE TABLE unfinished_writes (
    path TEXT PRIMARY KEY,
    time INTEGER NOT NULL
  ) WITHOUT ROWID;

  -- What was said and found, for the search.
  CREATE TABLE search_texts (
    id INTEGER PRIMARY KEY,
    session TEXT NOT NULL REFERENCES sessions(id) ON DELETE CASCADE,
    turn INTEGER NOT NULL,
    -- 'user', 'assistant' or 'tool'
    role TEXT NOT NULL,
    time INTEGER NOT NULL,
    text TEXT NOT NULL
  );
  CREATE INDEX search_texts_of ON search_texts(session, turn);
  CREATE VIRTUAL TABLE search USING fts5(
    text, content = 'search_texts', content_rowid = 'id',
    tokenize = "unicode61 remove_diacritics 2 tokenchars '_'"
  );
  CREATE TRIGGER search_text_added AFTER INSERT ON search_texts BEGIN
    INSERT INTO search (rowid, text) VALUES (new.id, new.text);
  END;
  CREATE TRIGGER search_text_gone AFTER DELETE ON search_texts BEGIN
    INSERT INTO search (search, rowid, text) VALUES ('delete', old.id, old.text);
  END;
  `,
];

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
    PRIMARY KEY (session, seq)
  ) WITHOUT ROWID;

  -- The log from which the model's history is built again.
  CREATE TABLE messages (
    session TEXT NOT NULL REFERENCES sessions(id) ON DELETE CASCADE,
    seq INTEGER NOT NULL,
    turn INTEGER NOT NULL,
    role TEXT NOT NULL,
    payload TEXT NOT NULL,
    PRIMARY KEY (session, seq)
  ) WITHOUT ROWID;

  -- Contents, shared by all that name them.
  CREATE TABLE blobs (
    sha256 TEXT PRIMARY KEY,
    size INTEGER NOT NULL,
    deflated INTEGER NOT NULL,
    bytes BLOB NOT NULL
  );

  CREATE TABLE checkpoints (
    id INTEGER PRIMARY KEY,
    session TEXT NOT NULL REFERENCES sessions(id) ON DELETE CASCADE,
    turn INTEGER NOT NULL,
    -- 'tool', 'command', 'undo', 'redo' or 'restore'
    kind TEXT NOT NULL,
    tool_call TEXT,
    undone INTEGER NOT NULL DEFAULT 0,
    time INTEGER NOT NULL
  );
  CREATE INDEX checkpoints_of ON checkpoints(session, turn);

  -- A side without a type is a file that is not there. A link's blob is its target.
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
    PRIMARY KEY (checkpoint, path)
  ) WITHOUT ROWID;
  CREATE INDEX checkpoint_files_of ON checkpoint_files(path);

  -- Files with changes that the user has not looked at.
  CREATE TABLE reviews (
    path TEXT PRIMARY KEY,
    session TEXT NOT NULL,
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

  CREATE VIRTUAL TABLE search USING fts5(
    text, session UNINDEXED, turn UNINDEXED, role UNINDEXED, time UNINDEXED,
    tokenize = "unicode61 remove_diacritics 2 tokenchars '_'"
  );
  `,
];

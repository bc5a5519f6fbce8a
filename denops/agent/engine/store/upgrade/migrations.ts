/** The tables, as numbered steps; step N brings a database of version N−1 to version N. Never change one that was released. */
export const MIGRATIONS: readonly string[] = [
  `
  CREATE TABLE sessions (
    id TEXT PRIMARY KEY,
    title TEXT NOT NULL DEFAULT '',
    root TEXT NOT NULL,
    mode TEXT NOT NULL DEFAULT 'agent',
    model TEXT NOT NULL,
    -- Of a fork: the session that it was made from, and the last turn that it has in common with it. These turns are
    -- stored once, with the parent.
    parent TEXT,
    shared INTEGER NOT NULL DEFAULT 0,
    created INTEGER NOT NULL,
    updated INTEGER NOT NULL,
    archived INTEGER NOT NULL DEFAULT 0,
    -- 1: gone for the user; forks still have turns in common with it.
    deleted INTEGER NOT NULL DEFAULT 0,
    -- Turns begun so far.
    turns INTEGER NOT NULL DEFAULT 0,
    branch TEXT
  ) WITHOUT ROWID;
  CREATE INDEX sessions_of ON sessions(parent);

  -- What was said and done, turn by turn.
  CREATE TABLE turns (
    id INTEGER PRIMARY KEY,
    session TEXT NOT NULL REFERENCES sessions(id) ON DELETE CASCADE,
    turn INTEGER NOT NULL,
    -- When it began.
    time INTEGER NOT NULL,
    -- The first line of what the user has asked.
    asked TEXT NOT NULL,
    -- 1: the model has changed its plan.
    planned INTEGER NOT NULL DEFAULT 0,
    -- Characters of its messages.
    size INTEGER NOT NULL DEFAULT 0,
    -- The seq of its last entry.
    last INTEGER NOT NULL DEFAULT 0,
    -- Of a turn that has ended: its entries as deflated JSON, see turn_log.ts.
    log BLOB,
    UNIQUE (session, turn)
  );

  -- Entries of turns that go on, and what came after the end of one: events, from which the screen is drawn again, and
  -- messages, from which the model's view is made again.
  CREATE TABLE log (
    session TEXT NOT NULL REFERENCES sessions(id) ON DELETE CASCADE,
    turn INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    time INTEGER NOT NULL,
    -- The entry's type, and the version of its schema.
    kind TEXT NOT NULL,
    version INTEGER NOT NULL,
    payload TEXT NOT NULL,
    -- Of a message: its characters.
    size INTEGER NOT NULL,
    PRIMARY KEY (session, turn, seq)
  ) WITHOUT ROWID;

  -- The ids of all calls.
  CREATE TABLE calls (
    session TEXT NOT NULL REFERENCES sessions(id) ON DELETE CASCADE,
    id TEXT NOT NULL,
    turn INTEGER NOT NULL,
    PRIMARY KEY (session, id)
  ) WITHOUT ROWID;

  -- What a session remembers beside its messages, one fact a row: JSON, or a content where it is a long text.
  CREATE TABLE memory (
    session TEXT NOT NULL REFERENCES sessions(id) ON DELETE CASCADE,
    topic TEXT NOT NULL,
    name TEXT NOT NULL,
    value TEXT,
    blob TEXT,
    PRIMARY KEY (session, topic, name)
  ) WITHOUT ROWID;
  CREATE INDEX memory_blob ON memory(blob) WHERE blob IS NOT NULL;

  -- Contents that payloads of a session name. A column that names a content is called blob or something_blob and has
  -- an index: what none of them names any more is removed.
  CREATE TABLE payload_blobs (
    session TEXT NOT NULL REFERENCES sessions(id) ON DELETE CASCADE,
    blob TEXT NOT NULL,
    PRIMARY KEY (session, blob)
  ) WITHOUT ROWID;
  CREATE INDEX payload_blobs_of ON payload_blobs(blob);

  -- Contents, shared by all that name them. Deflated: 0 no, 1 yes, 2 in parts.
  CREATE TABLE blobs (
    id INTEGER PRIMARY KEY,
    sha256 TEXT NOT NULL UNIQUE,
    -- When somebody last meant to name it.
    time INTEGER NOT NULL,
    size INTEGER NOT NULL,
    deflated INTEGER NOT NULL,
    bytes BLOB NOT NULL
  );

  -- Each part is deflated by itself. They are written before their blob, so nothing refers from here to there.
  CREATE TABLE blob_parts (
    sha256 TEXT NOT NULL,
    part INTEGER NOT NULL,
    -- When it was written.
    time INTEGER NOT NULL,
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
  CREATE INDEX checkpoints_untold ON checkpoints(session) WHERE told = 0 AND kind IN ('undo', 'redo', 'restore');

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
  CREATE INDEX checkpoint_files_before ON checkpoint_files(before_blob) WHERE before_blob IS NOT NULL;
  CREATE INDEX checkpoint_files_after ON checkpoint_files(after_blob) WHERE after_blob IS NOT NULL;

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
  CREATE INDEX scanned_files_blob ON scanned_files(blob) WHERE blob IS NOT NULL;

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
  CREATE INDEX reviews_before ON reviews(before_blob) WHERE before_blob IS NOT NULL;
  CREATE INDEX reviews_after ON reviews(after_blob) WHERE after_blob IS NOT NULL;

  CREATE TABLE usage (
    id INTEGER PRIMARY KEY,
    session TEXT NOT NULL,
    turn INTEGER NOT NULL,
    -- The name of the mode that it was made in.
    purpose TEXT NOT NULL,
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
  CREATE INDEX approvals_of ON approvals(session);

  -- Temporary files of writes that go on, or that a crash has ended.
  CREATE TABLE unfinished_writes (
    path TEXT PRIMARY KEY,
    time INTEGER NOT NULL
  ) WITHOUT ROWID;

  -- Where the texts are that the search finds: entries of turns. The index has no text of its own.
  CREATE TABLE search_texts (
    id INTEGER PRIMARY KEY,
    turn INTEGER NOT NULL REFERENCES turns(id) ON DELETE CASCADE,
    seq INTEGER NOT NULL
  );
  CREATE INDEX search_texts_of ON search_texts(turn);
  CREATE VIRTUAL TABLE search USING fts5(
    text, content = '', contentless_delete = 1,
    tokenize = "unicode61 remove_diacritics 2 tokenchars '_'"
  );
  CREATE TRIGGER search_text_gone AFTER DELETE ON search_texts BEGIN
    DELETE FROM search WHERE rowid = old.id;
  END;
  `,
  `
  -- 1: what the model sees of the session was folded in this turn, or that was taken back.
  ALTER TABLE turns ADD COLUMN folded INTEGER NOT NULL DEFAULT 0;
  `,
  `
  -- Of a sub-agent: the call of its parent's that has started it.
  ALTER TABLE sessions ADD COLUMN call TEXT;
  -- How the last turn has ended; NULL: it has not.
  ALTER TABLE sessions ADD COLUMN ended TEXT;
  -- The session of the sub-agent that a request was made for.
  ALTER TABLE usage ADD COLUMN agent TEXT;
  CREATE INDEX usage_agent ON usage(agent) WHERE agent IS NOT NULL;
  `,
  `
  -- Of a step of a turn: milliseconds to build its prompt, and from what it answers (the message, the last result) to
  -- the request; tools and messages in it.
  ALTER TABLE usage ADD COLUMN build_ms REAL;
  ALTER TABLE usage ADD COLUMN ready_ms REAL;
  ALTER TABLE usage ADD COLUMN offered INTEGER;
  ALTER TABLE usage ADD COLUMN messages INTEGER;

  -- Calls that were to write files.
  CREATE TABLE edits (
    id INTEGER PRIMARY KEY,
    session TEXT NOT NULL,
    turn INTEGER NOT NULL,
    tool_call TEXT NOT NULL,
    provider TEXT NOT NULL,
    model TEXT NOT NULL,
    -- Of edit_file how it was written, else the tool's name.
    form TEXT NOT NULL,
    -- 0: it did not fit.
    written INTEGER NOT NULL,
    time INTEGER NOT NULL
  );
  CREATE INDEX edits_of ON edits(session, tool_call);

  -- What the user has made of the hunks of one call in one file.
  CREATE TABLE hunks (
    edit INTEGER NOT NULL REFERENCES edits(id) ON DELETE CASCADE,
    path TEXT NOT NULL,
    kept INTEGER NOT NULL,
    changed INTEGER NOT NULL,
    undone INTEGER NOT NULL,
    PRIMARY KEY (edit, path)
  ) WITHOUT ROWID;
  `,
  `
  -- What was learnt of models: what their server tells, what it has refused. JSON, and when.
  CREATE TABLE model_facts (
    provider TEXT NOT NULL,
    base_url TEXT NOT NULL,
    model TEXT NOT NULL,
    topic TEXT NOT NULL,
    value TEXT NOT NULL,
    time INTEGER NOT NULL,
    PRIMARY KEY (provider, base_url, model, topic)
  ) WITHOUT ROWID;
  `,
  `
  -- Messages that came back into an input and were in no log: an engine that is about to end must not log them.
  CREATE TABLE withdrawn_messages (
    id TEXT PRIMARY KEY,
    time INTEGER NOT NULL
  ) WITHOUT ROWID;
  CREATE TRIGGER log_no_withdrawn_message BEFORE INSERT ON memory
  WHEN NEW.topic = 'message' AND EXISTS (SELECT 1 FROM withdrawn_messages WHERE id = NEW.name)
  BEGIN
    SELECT RAISE(ABORT, 'the message is back in an input');
  END;
  `,
  `
  -- The files that one call wrote, with their changed lines.
  CREATE TABLE edited_files (
    edit INTEGER NOT NULL REFERENCES edits(id) ON DELETE CASCADE,
    path TEXT NOT NULL,
    added INTEGER NOT NULL,
    removed INTEGER NOT NULL,
    PRIMARY KEY (edit, path)
  ) WITHOUT ROWID;

  -- What the user did with code blocks of answers: 'copied' or 'applied'. With the model of their turn.
  CREATE TABLE code_uses (
    id INTEGER PRIMARY KEY,
    session TEXT NOT NULL,
    turn INTEGER NOT NULL,
    provider TEXT NOT NULL,
    model TEXT NOT NULL,
    use TEXT NOT NULL,
    time INTEGER NOT NULL
  );
  `,
];

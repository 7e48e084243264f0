/**
 * The schema of the SQLite ledger, as a list that is only appended to: entry n brings a file from version n to n + 1. Triggers
 * keep `decisions` append-only; later events of a receipt are in `receipt_events`. One list: the order is the version.
 */
/** A chain for each writer. The program makes the chain and the entries of existing rows (openChain). */
const JOURNAL = `
  CREATE TABLE ledger_chains (chain TEXT NOT NULL PRIMARY KEY, opened_at INTEGER NOT NULL) STRICT, WITHOUT ROWID;
  CREATE TABLE ledger_journal (
    chain    TEXT NOT NULL,
    sequence INTEGER NOT NULL,
    kind     TEXT NOT NULL,
    key      TEXT NOT NULL,
    digest   TEXT NOT NULL,
    hash     TEXT NOT NULL,
    PRIMARY KEY (chain, sequence)
  ) STRICT, WITHOUT ROWID;
  CREATE TRIGGER ledger_journal_is_final BEFORE UPDATE ON ledger_journal
    BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END;
  CREATE TRIGGER ledger_journal_stays BEFORE DELETE ON ledger_journal
    BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END;
  CREATE TABLE ledger_checkpoints (
    chain    TEXT NOT NULL,
    sequence INTEGER NOT NULL,
    hash     TEXT NOT NULL,
    at       INTEGER NOT NULL,
    token    TEXT NOT NULL,
    PRIMARY KEY (chain, sequence)
  ) STRICT, WITHOUT ROWID;
  `

export const MIGRATIONS: readonly string[] = [
  `
  CREATE TABLE decisions (
    sequence          INTEGER PRIMARY KEY,
    decision_id       TEXT NOT NULL UNIQUE,
    tenant            TEXT NOT NULL,
    route             TEXT,
    decision          TEXT NOT NULL,
    execution_action  TEXT NOT NULL,
    operation         TEXT,
    environment       TEXT,
    repository        TEXT,
    fingerprint       TEXT NOT NULL,
    input_fingerprint TEXT NOT NULL,
    evaluated_at      INTEGER NOT NULL,
    expires_at        INTEGER NOT NULL,
    supersession_key  TEXT NOT NULL,
    envelope          TEXT NOT NULL,
    response          TEXT,
    idempotency_key   TEXT,
    body_digest       TEXT,
    previous_hash     TEXT NOT NULL,
    hash              TEXT NOT NULL
  ) STRICT;
  CREATE INDEX decisions_by_tenant ON decisions (tenant, sequence);
  CREATE INDEX decisions_by_fingerprint ON decisions (tenant, fingerprint, sequence);
  CREATE INDEX decisions_by_idempotency ON decisions (tenant, idempotency_key, sequence)
    WHERE idempotency_key IS NOT NULL;
  CREATE TRIGGER decisions_are_final BEFORE UPDATE ON decisions
    BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END;
  CREATE TRIGGER decisions_stay BEFORE DELETE ON decisions
    BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END;

  CREATE TABLE receipt_events (
    decision_id TEXT NOT NULL REFERENCES decisions (decision_id),
    state       TEXT NOT NULL CHECK (state IN ('superseded', 'revoked', 'consumed')),
    at          INTEGER NOT NULL,
    by          TEXT NOT NULL,
    reason      TEXT NOT NULL,
    PRIMARY KEY (decision_id, state)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE supersession_heads (
    tenant           TEXT NOT NULL,
    supersession_key TEXT NOT NULL,
    decision_id      TEXT NOT NULL,
    PRIMARY KEY (tenant, supersession_key)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE interceptions (
    sequence         INTEGER PRIMARY KEY,
    correlation_id   TEXT NOT NULL,
    decision_id      TEXT,
    route            TEXT NOT NULL,
    protocol         TEXT NOT NULL,
    action           TEXT NOT NULL,
    execution_action TEXT NOT NULL,
    enforced         INTEGER NOT NULL,
    at               INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX interceptions_by_correlation ON interceptions (correlation_id);

  CREATE TABLE baselines (
    route       TEXT NOT NULL,
    artifact_id TEXT NOT NULL,
    type        TEXT NOT NULL,
    content     TEXT NOT NULL,
    digest      TEXT NOT NULL,
    source      TEXT NOT NULL,
    set_by      TEXT NOT NULL,
    set_at      INTEGER NOT NULL,
    PRIMARY KEY (route, artifact_id)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE monitoring_windows (
    correlation_id TEXT NOT NULL PRIMARY KEY,
    decision_id    TEXT NOT NULL,
    tenant         TEXT NOT NULL,
    route          TEXT,
    opened_at      INTEGER NOT NULL,
    closed_at      INTEGER,
    outcome        TEXT
  ) STRICT;
  CREATE INDEX open_windows ON monitoring_windows (opened_at) WHERE closed_at IS NULL;

  CREATE TABLE api_keys (
    hash       TEXT NOT NULL PRIMARY KEY,
    audience   TEXT NOT NULL,
    tenant     TEXT NOT NULL,
    name       TEXT NOT NULL,
    role       TEXT NOT NULL,
    plan       TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    revoked_at INTEGER
  ) STRICT;

  CREATE TABLE monthly_uses (
    tenant TEXT NOT NULL,
    month  TEXT NOT NULL,
    count  INTEGER NOT NULL,
    PRIMARY KEY (tenant, month)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE probes (id INTEGER PRIMARY KEY CHECK (id = 1), count INTEGER NOT NULL) STRICT;
  `,
  `
  CREATE TABLE approvals (
    sequence          INTEGER PRIMARY KEY,
    approval_id       TEXT NOT NULL UNIQUE,
    key               TEXT NOT NULL,
    tenant            TEXT NOT NULL,
    decision_id       TEXT NOT NULL,
    route             TEXT,
    operation         TEXT,
    environment       TEXT,
    repository        TEXT,
    branch            TEXT,
    pull_request      TEXT,
    target_id         TEXT,
    input_fingerprint TEXT NOT NULL,
    policy_hash       TEXT NOT NULL,
    summary           TEXT NOT NULL,
    risk_score        INTEGER NOT NULL,
    reasons           TEXT NOT NULL,
    opened_at         INTEGER NOT NULL,
    expires_at        INTEGER NOT NULL,
    settled_state     TEXT CHECK (settled_state IN ('granted', 'denied')),
    settled_by        TEXT,
    settled_comment   TEXT,
    settled_at        INTEGER,
    valid_until       INTEGER
  ) STRICT;
  CREATE INDEX approvals_by_key ON approvals (key, sequence);
  CREATE INDEX approvals_by_tenant ON approvals (tenant, sequence);
  CREATE TRIGGER approvals_are_settled_once BEFORE UPDATE ON approvals WHEN OLD.settled_state IS NOT NULL
    BEGIN SELECT RAISE(ABORT, 'a settled approval is final'); END;
  CREATE TRIGGER approvals_stay BEFORE DELETE ON approvals
    BEGIN SELECT RAISE(ABORT, 'approvals are kept'); END;

  CREATE TABLE approval_requesters (
    approval_id TEXT NOT NULL REFERENCES approvals (approval_id),
    audience    TEXT NOT NULL,
    PRIMARY KEY (approval_id, audience)
  ) STRICT, WITHOUT ROWID;
  `,
  // A random key dirties a page for each call: it doubled the writes of the proxy, and no query uses it.
  'DROP INDEX interceptions_by_correlation;',
  // Policies look back at the decisions of one scope.
  'CREATE INDEX decisions_by_scope ON decisions (tenant, supersession_key, sequence);',
  // Lists as JSON: groups of a key, sets of groups that may grant, groups of the approver.
  `
  ALTER TABLE api_keys ADD COLUMN groups_of_key TEXT NOT NULL DEFAULT '[]';
  ALTER TABLE approvals ADD COLUMN approvers TEXT NOT NULL DEFAULT '[]';
  ALTER TABLE approvals ADD COLUMN settled_groups TEXT NOT NULL DEFAULT '[]';
  `,
  `
  CREATE TABLE decision_inputs (
    decision_id TEXT NOT NULL PRIMARY KEY,
    input       TEXT NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE kept_contents (
    digest  TEXT NOT NULL PRIMARY KEY,
    packed  BLOB NOT NULL,
    size    INTEGER NOT NULL,
    used_at INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX kept_contents_by_use ON kept_contents (used_at, size, digest);
  `,
  `
  ALTER TABLE interceptions ADD COLUMN effect TEXT;
  ALTER TABLE interceptions ADD COLUMN break_glass_id TEXT;

  CREATE TABLE break_glass (
    id         TEXT NOT NULL PRIMARY KEY,
    route      TEXT NOT NULL,
    reason     TEXT NOT NULL,
    opened_by  TEXT NOT NULL,
    opened_at  INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    closed_by  TEXT,
    closed_at  INTEGER,
    calls      INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX break_glass_in_force ON break_glass (route, expires_at) WHERE closed_at IS NULL;
  CREATE TRIGGER break_glass_stays BEFORE DELETE ON break_glass
    BEGIN SELECT RAISE(ABORT, 'exceptions are kept'); END;
  CREATE TRIGGER break_glass_is_true BEFORE UPDATE OF id, route, reason, opened_by, opened_at, expires_at ON break_glass
    BEGIN SELECT RAISE(ABORT, 'who opened an exception, why and for how long is final'); END;

  CREATE TABLE baseline_candidates (
    route   TEXT NOT NULL PRIMARY KEY,
    type    TEXT NOT NULL,
    content TEXT NOT NULL,
    digest  TEXT NOT NULL,
    seen_at INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  `,
  `
  CREATE TABLE secrets (name TEXT NOT NULL PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
  CREATE TABLE observed_uses (
    target    TEXT NOT NULL,
    consumer  TEXT NOT NULL,
    route     TEXT NOT NULL,
    operation TEXT,
    tool      TEXT,
    calls     INTEGER NOT NULL,
    first_at  INTEGER NOT NULL,
    last_at   INTEGER NOT NULL,
    PRIMARY KEY (target, consumer)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX observed_uses_by_route ON observed_uses (route);
  CREATE INDEX observed_uses_by_age ON observed_uses (last_at);
  `,
  `
  CREATE TABLE bindings (
    tenant     TEXT NOT NULL,
    platform   TEXT NOT NULL CHECK (platform IN ('scm_a', 'scm_b', 'scm_c')),
    repository TEXT NOT NULL COLLATE NOCASE,
    proven_at  INTEGER NOT NULL,
    proven_by  TEXT NOT NULL,
    PRIMARY KEY (tenant, platform, repository)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE binding_challenges (
    challenge_id TEXT NOT NULL PRIMARY KEY,
    tenant       TEXT NOT NULL,
    platform     TEXT NOT NULL CHECK (platform IN ('scm_a', 'scm_b', 'scm_c')),
    repository   TEXT NOT NULL,
    marker       TEXT NOT NULL,
    created_at   INTEGER NOT NULL,
    expires_at   INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  `,
  // A caller chooses its correlation id, so it identifies no window: two calls under one id have one window each.
  `
  ALTER TABLE monitoring_windows RENAME TO monitoring_windows_by_correlation;
  DROP INDEX open_windows;
  CREATE TABLE monitoring_windows (
    window_id      TEXT NOT NULL PRIMARY KEY,
    correlation_id TEXT NOT NULL,
    decision_id    TEXT NOT NULL,
    tenant         TEXT NOT NULL,
    route          TEXT,
    observer       TEXT NOT NULL CHECK (observer IN ('gateway', 'caller')),
    opened_at      INTEGER NOT NULL,
    closed_at      INTEGER,
    outcome        TEXT
  ) STRICT;
  INSERT INTO monitoring_windows
    SELECT correlation_id, correlation_id, decision_id, tenant, route, 'caller', opened_at, closed_at, outcome
    FROM monitoring_windows_by_correlation;
  DROP TABLE monitoring_windows_by_correlation;
  CREATE INDEX open_windows ON monitoring_windows (opened_at) WHERE closed_at IS NULL;
  `,
  // Few calls depart from their contract, and queries by effect ask for those.
  `
  ALTER TABLE interceptions ADD COLUMN tenant TEXT NOT NULL DEFAULT 'local';
  ALTER TABLE interceptions ADD COLUMN violations TEXT;
  CREATE INDEX interceptions_with_violations ON interceptions (effect, sequence) WHERE violations IS NOT NULL;
  `,
  // A candidate is announced once, whichever process sees it first and however often it comes and goes.
  `
  CREATE TABLE announced_candidates (
    route  TEXT NOT NULL,
    digest TEXT NOT NULL,
    at     INTEGER NOT NULL,
    PRIMARY KEY (route, digest)
  ) STRICT, WITHOUT ROWID;
  `,
  // An end is recorded, so that setting the clock back does not undo it.
  `
  ALTER TABLE break_glass ADD COLUMN ended_at INTEGER;
  ALTER TABLE approvals ADD COLUMN ended_at INTEGER;
  DROP TRIGGER approvals_are_settled_once;
  CREATE TRIGGER approvals_are_settled_once
    BEFORE UPDATE OF settled_state, settled_by, settled_groups, settled_comment, settled_at, valid_until ON approvals
    WHEN OLD.settled_state IS NOT NULL
    BEGIN SELECT RAISE(ABORT, 'a settled approval is final'); END;
  CREATE TRIGGER approvals_end_once BEFORE UPDATE OF ended_at ON approvals WHEN OLD.ended_at IS NOT NULL
    BEGIN SELECT RAISE(ABORT, 'an approval ends once'); END;
  CREATE INDEX approvals_not_ended ON approvals (expires_at) WHERE ended_at IS NULL;
  CREATE TRIGGER break_glass_ends_once BEFORE UPDATE OF ended_at ON break_glass WHEN OLD.ended_at IS NOT NULL
    BEGIN SELECT RAISE(ABORT, 'an exception ends once'); END;
  `,
  JOURNAL,
  // One key a mail address; only a digest of the address is kept.
  `
  CREATE TABLE signups (mail TEXT NOT NULL PRIMARY KEY, audience TEXT NOT NULL, at INTEGER NOT NULL) STRICT, WITHOUT ROWID;
  `,
  // The audience of the decision, as in the envelope: agents see only their own.
  `
  ALTER TABLE decisions ADD COLUMN audience TEXT GENERATED ALWAYS AS (json_extract(envelope, '$.audience')) VIRTUAL;
  CREATE INDEX decisions_by_audience ON decisions (tenant, audience, sequence);
  `,
  // Lists of receipt states for verifiers. A place is given to one receipt only.
  `
  CREATE TABLE status_lists (
    list      TEXT NOT NULL PRIMARY KEY,
    uri       TEXT NOT NULL,
    size      INTEGER NOT NULL,
    opened_at INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  ALTER TABLE decisions ADD COLUMN status_list TEXT;
  ALTER TABLE decisions ADD COLUMN status_index INTEGER;
  CREATE UNIQUE INDEX decisions_by_status ON decisions (status_list, status_index) WHERE status_list IS NOT NULL;
  `,
  // Beside the keys, so that the entries of older keys in the journal stay true.
  `
  CREATE TABLE api_key_terms (
    hash       TEXT NOT NULL PRIMARY KEY,
    expires_at INTEGER,
    owner      TEXT
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE api_key_uses (hash TEXT NOT NULL PRIMARY KEY, used_at INTEGER NOT NULL) STRICT, WITHOUT ROWID;
  `,
  // Where the ledger begins. The triggers let only rows before that go.
  `
  CREATE TABLE ledger_cuts (
    chain         TEXT NOT NULL,
    sequence      INTEGER NOT NULL,
    hash          TEXT NOT NULL,
    decision      INTEGER NOT NULL,
    decision_hash TEXT,
    call          INTEGER NOT NULL,
    at            INTEGER NOT NULL,
    token         TEXT NOT NULL,
    PRIMARY KEY (chain, sequence)
  ) STRICT, WITHOUT ROWID;
  DROP TRIGGER IF EXISTS decisions_stay;
  CREATE TRIGGER decisions_stay BEFORE DELETE ON decisions
    WHEN OLD.sequence > coalesce((SELECT max(decision) FROM ledger_cuts), 0)
    BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END;
  DROP TRIGGER IF EXISTS ledger_journal_stays;
  CREATE TRIGGER ledger_journal_stays BEFORE DELETE ON ledger_journal
    WHEN OLD.sequence > coalesce((SELECT max(sequence) FROM ledger_cuts WHERE chain = OLD.chain), 0)
    BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END;
  `,
  // Notices are written with the event that they are about; messages wait here until they are delivered.
  `
  CREATE TABLE notices (
    id      TEXT NOT NULL PRIMARY KEY,
    kind    TEXT NOT NULL,
    subject TEXT NOT NULL,
    tenant  TEXT NOT NULL,
    at      INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX notices_by_time ON notices (at, id);
  CREATE TABLE deliveries (
    id           TEXT NOT NULL PRIMARY KEY,
    channel      TEXT NOT NULL,
    kind         TEXT NOT NULL,
    subject      TEXT NOT NULL,
    payload      TEXT NOT NULL,
    created_at   INTEGER NOT NULL,
    attempts     INTEGER NOT NULL,
    next_at      INTEGER NOT NULL,
    delivered_at INTEGER,
    failed_at    INTEGER,
    problem      TEXT
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX deliveries_waiting ON deliveries (channel, subject, created_at) WHERE delivered_at IS NULL AND failed_at IS NULL;
  CREATE INDEX deliveries_by_time ON deliveries (created_at);
  `,
  // What happens to a request besides its opening and its decision.
  `
  CREATE TABLE approval_steps (
    step_id        TEXT NOT NULL PRIMARY KEY,
    approval_id    TEXT NOT NULL,
    kind           TEXT NOT NULL,
    by_whom        TEXT NOT NULL,
    groups_of_step TEXT NOT NULL,
    text           TEXT NOT NULL,
    at             INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX approval_steps_by_request ON approval_steps (approval_id, at);
  `,
  // Of the gateways that share a store. Here there is one, and its key file is what counts.
  `
  CREATE TABLE receipt_keys (
    kid        TEXT NOT NULL PRIMARY KEY,
    x          TEXT NOT NULL,
    valid_from INTEGER NOT NULL,
    retired_at INTEGER,
    revoked_at INTEGER
  ) STRICT, WITHOUT ROWID;
  `,
  // Who uses this store. Not protected: nothing rests on it.
  `
  CREATE TABLE fleet_members (
    member_id   TEXT NOT NULL PRIMARY KEY,
    kind        TEXT NOT NULL,
    name        TEXT NOT NULL,
    proof       TEXT,
    tenant      TEXT NOT NULL,
    host        TEXT NOT NULL,
    hub         TEXT,
    version     TEXT NOT NULL,
    tier        TEXT NOT NULL,
    mode        TEXT,
    config_hash TEXT NOT NULL,
    policy_name TEXT NOT NULL,
    policy_hash TEXT NOT NULL,
    started_at  INTEGER NOT NULL,
    seen_at     INTEGER NOT NULL,
    stopped_at  INTEGER,
    lag         INTEGER
  ) STRICT, WITHOUT ROWID;
  `,
  // Acts that wait for their entry in the decision log.
  `
  CREATE TABLE acts (
    id            TEXT NOT NULL PRIMARY KEY,
    at            INTEGER NOT NULL,
    is_logged     INTEGER NOT NULL,
    facts         TEXT NOT NULL,
    claimed_until INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX acts_by_time ON acts (at, id);
  `,
  // Rights to grant that approvers hand to others for a time.
  `
  CREATE TABLE approval_delegations (
    delegation_id        TEXT NOT NULL PRIMARY KEY,
    tenant               TEXT NOT NULL,
    by_whom              TEXT NOT NULL,
    groups_of_delegation TEXT NOT NULL,
    to_whom              TEXT NOT NULL,
    approval_id          TEXT,
    reason               TEXT NOT NULL,
    at                   INTEGER NOT NULL,
    until                INTEGER NOT NULL,
    ended_at             INTEGER,
    ended_by             TEXT
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX approval_delegations_by_person ON approval_delegations (tenant, to_whom, until);
  `,
  // A ledger that was copied from PostgreSQL has a chain for each gateway that wrote there. Elsewhere these columns are null.
  `
  ALTER TABLE ledger_journal ADD COLUMN ordinal INTEGER;
  ALTER TABLE decisions ADD COLUMN chain TEXT;
  ALTER TABLE interceptions ADD COLUMN chain TEXT;
  CREATE INDEX decisions_by_chain ON decisions (chain, sequence) WHERE chain IS NOT NULL;
  ALTER TABLE ledger_cuts ADD COLUMN removed_at INTEGER;
  DROP TRIGGER decisions_stay;
  CREATE TRIGGER decisions_stay BEFORE DELETE ON decisions
    WHEN OLD.sequence > coalesce((SELECT max(decision) FROM ledger_cuts WHERE OLD.chain IS NULL OR chain = OLD.chain), 0)
    BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END;
  `,
  // Tasks of the webhooks of platforms, and what is shown at commits.
  `
  CREATE TABLE webhook_deliveries (
    platform    TEXT NOT NULL,
    delivery_id TEXT NOT NULL,
    digest      TEXT NOT NULL,
    subject     TEXT NOT NULL,
    task        TEXT NOT NULL,
    received_at INTEGER NOT NULL,
    attempts    INTEGER NOT NULL,
    next_at     INTEGER NOT NULL,
    done_at     INTEGER,
    problem     TEXT,
    PRIMARY KEY (platform, delivery_id)
  ) STRICT, WITHOUT ROWID;
  CREATE UNIQUE INDEX webhook_deliveries_by_digest ON webhook_deliveries (platform, digest);
  CREATE INDEX webhook_deliveries_waiting ON webhook_deliveries (platform, subject, received_at) WHERE done_at IS NULL;
  CREATE INDEX webhook_deliveries_done ON webhook_deliveries (done_at);
  CREATE TABLE merge_checks (
    platform    TEXT NOT NULL,
    repository  TEXT NOT NULL,
    commit_sha  TEXT NOT NULL,
    subject     TEXT NOT NULL,
    tenant      TEXT NOT NULL,
    task        TEXT NOT NULL,
    decision_id TEXT,
    approval_id TEXT,
    report      TEXT NOT NULL,
    shown       TEXT,
    at          INTEGER NOT NULL,
    PRIMARY KEY (platform, repository, commit_sha, subject)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX merge_checks_by_subject ON merge_checks (platform, subject);
  CREATE INDEX merge_checks_waiting ON merge_checks (approval_id) WHERE approval_id IS NOT NULL;
  CREATE INDEX merge_checks_by_time ON merge_checks (at);
  `,
  // The console counts the decisions of a day. People search for those of one kind, and of a repository.
  `
  CREATE INDEX decisions_by_time ON decisions (tenant, evaluated_at, decision, route);
  CREATE INDEX decisions_by_decision ON decisions (tenant, decision, sequence);
  CREATE INDEX decisions_by_repository ON decisions (tenant, repository, sequence) WHERE repository IS NOT NULL;
  `,
  // The trace of a request leads to its rows, and back.
  `
  ALTER TABLE decisions ADD COLUMN trace_id TEXT;
  ALTER TABLE interceptions ADD COLUMN trace_id TEXT;
  CREATE INDEX decisions_by_trace ON decisions (tenant, trace_id, sequence) WHERE trace_id IS NOT NULL;
  CREATE INDEX interceptions_by_trace ON interceptions (trace_id, sequence) WHERE trace_id IS NOT NULL;
  `,
  // Where a chat shows the message about a subject: later ones update it, or follow in its thread.
  `
  ALTER TABLE deliveries ADD COLUMN reference TEXT;
  CREATE INDEX deliveries_by_reference ON deliveries (channel, subject, created_at) WHERE reference IS NOT NULL;
  `,
  // An index of every trace id is rewritten in random places: only those of sampled traces stay in it. Rows that were there
  // already stay.
  `
  ALTER TABLE interceptions ADD COLUMN trace_is_sampled INTEGER DEFAULT 1;
  DROP INDEX interceptions_by_trace;
  CREATE INDEX interceptions_by_trace ON interceptions (trace_id, sequence)
    WHERE trace_id IS NOT NULL AND trace_is_sampled = 1;
  `,
  // The spans of the call that waits and of the decision: what rests on the approval links to them.
  `
  ALTER TABLE approvals ADD COLUMN opened_in TEXT;
  ALTER TABLE approvals ADD COLUMN settled_in TEXT;
  `,
  // The latest time that has come: a gateway that starts under an earlier clock continues from it.
  `
  CREATE TABLE latest_time (id INTEGER PRIMARY KEY CHECK (id = 1), at INTEGER NOT NULL) STRICT;
  `,
  // Grants are counted by the keys of those who granted, and by all keys of one person.
  `
  CREATE INDEX api_keys_by_audience ON api_keys (audience);
  CREATE INDEX api_key_terms_by_owner ON api_key_terms (owner) WHERE owner IS NOT NULL;
  `,
  // Every request that is opened or decided ends those whose time has passed; pages of the console show those that wait.
  `
  CREATE INDEX approvals_by_end ON approvals ((CASE settled_state WHEN 'granted' THEN valid_until ELSE expires_at END))
    WHERE ended_at IS NULL;
  CREATE INDEX approvals_waiting ON approvals (tenant, sequence) WHERE settled_state IS NULL AND ended_at IS NULL;
  `,
  // Those that expire next are shown first.
  `
  CREATE INDEX approvals_by_expiry ON approvals (tenant, expires_at, sequence) WHERE settled_state IS NULL AND ended_at IS NULL;
  `,
]

/** The first version whose ledger has a chain. */
export const CHAINED_VERSION = MIGRATIONS.indexOf(JOURNAL) + 1

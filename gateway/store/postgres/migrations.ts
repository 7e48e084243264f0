/**
 * The schema of the PostgreSQL store, as a list that is only appended to: entry n brings a database from version n to n + 1. It is
 * one list, so a reader sees the schema whole. The tables are those of SQLite, with some differences. A row knows the chain of the
 * gateway that wrote it. `ordinal` orders entries of different chains. Call records are partitioned by month. What must be exact
 * in one round trip is a function here.
 */

const TABLES = `
  CREATE SEQUENCE ledger_ordinal;
  CREATE SEQUENCE decision_sequence;
  CREATE SEQUENCE call_sequence;

  CREATE TABLE ledger_chains (
    chain         text PRIMARY KEY,
    opened_at     bigint NOT NULL,
    sequence      bigint NOT NULL,
    hash          text NOT NULL,
    -- Hash of the chain's newest decision.
    decision_hash text NOT NULL
  ) WITH (fillfactor = 20);
  CREATE TABLE ledger_journal (
    chain    text NOT NULL,
    sequence bigint NOT NULL,
    kind     text NOT NULL,
    key      text NOT NULL,
    digest   text NOT NULL,
    hash     text NOT NULL,
    -- Order of the entries of all chains about one row; null: copied from SQLite.
    ordinal  bigint,
    PRIMARY KEY (chain, sequence)
  );
  CREATE TABLE ledger_checkpoints (
    chain    text NOT NULL,
    sequence bigint NOT NULL,
    hash     text NOT NULL,
    at       bigint NOT NULL,
    token    text NOT NULL,
    PRIMARY KEY (chain, sequence)
  );

  CREATE TABLE decisions (
    sequence          bigint PRIMARY KEY,
    decision_id       text NOT NULL UNIQUE,
    tenant            text NOT NULL,
    route             text,
    decision          text NOT NULL,
    execution_action  text NOT NULL,
    operation         text,
    environment       text,
    repository        text,
    fingerprint       text NOT NULL,
    input_fingerprint text NOT NULL,
    evaluated_at      bigint NOT NULL,
    expires_at        bigint NOT NULL,
    supersession_key  text NOT NULL,
    envelope          text NOT NULL,
    response          text,
    idempotency_key   text,
    body_digest       text,
    previous_hash     text NOT NULL,
    hash              text NOT NULL,
    chain             text NOT NULL,
    status_list       text,
    status_index      bigint,
    -- The envelope has it too. Agents see only their own.
    audience          text
  );
  CREATE INDEX decisions_by_tenant ON decisions (tenant, sequence);
  CREATE INDEX decisions_by_fingerprint ON decisions (tenant, fingerprint, sequence);
  CREATE INDEX decisions_by_scope ON decisions (tenant, supersession_key, sequence);
  CREATE INDEX decisions_by_chain ON decisions (chain, sequence);
  CREATE INDEX decisions_by_idempotency ON decisions (tenant, idempotency_key, sequence) WHERE idempotency_key IS NOT NULL;
  CREATE UNIQUE INDEX decisions_by_status ON decisions (status_list, status_index) WHERE status_list IS NOT NULL;
  CREATE INDEX decisions_by_audience ON decisions (tenant, audience, sequence) WHERE audience IS NOT NULL;

  CREATE TABLE receipt_events (
    decision_id text NOT NULL REFERENCES decisions (decision_id),
    state       text NOT NULL CHECK (state IN ('superseded', 'revoked', 'consumed')),
    at          bigint NOT NULL,
    by          text NOT NULL,
    reason      text NOT NULL,
    PRIMARY KEY (decision_id, state)
  );
  CREATE TABLE supersession_heads (
    tenant           text NOT NULL,
    supersession_key text NOT NULL,
    decision_id      text NOT NULL,
    -- The head before this one.
    superseded_id    text,
    PRIMARY KEY (tenant, supersession_key)
  ) WITH (fillfactor = 70);

  CREATE TABLE interceptions (
    sequence         bigint NOT NULL,
    correlation_id   text NOT NULL,
    tenant           text NOT NULL,
    decision_id      text,
    route            text NOT NULL,
    protocol         text NOT NULL,
    action           text NOT NULL,
    execution_action text NOT NULL,
    enforced         integer NOT NULL,
    effect           text,
    break_glass_id   text,
    violations       text,
    at               bigint NOT NULL,
    chain            text NOT NULL,
    PRIMARY KEY (sequence, at)
  ) PARTITION BY RANGE (at);
  CREATE TABLE interceptions_other PARTITION OF interceptions DEFAULT;
  CREATE INDEX interceptions_with_violations ON interceptions (effect, sequence) WHERE violations IS NOT NULL;

  CREATE TABLE approvals (
    sequence          bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    approval_id       text NOT NULL UNIQUE,
    key               text NOT NULL,
    tenant            text NOT NULL,
    decision_id       text NOT NULL,
    route             text,
    operation         text,
    environment       text,
    repository        text,
    branch            text,
    pull_request      text,
    target_id         text,
    input_fingerprint text NOT NULL,
    policy_hash       text NOT NULL,
    summary           text NOT NULL,
    risk_score        bigint NOT NULL,
    reasons           text NOT NULL,
    opened_at         bigint NOT NULL,
    expires_at        bigint NOT NULL,
    approvers         text NOT NULL,
    settled_state     text CHECK (settled_state IN ('granted', 'denied')),
    settled_by        text,
    settled_groups    text NOT NULL DEFAULT '[]',
    settled_comment   text,
    settled_at        bigint,
    valid_until       bigint,
    ended_at          bigint
  );
  CREATE INDEX approvals_by_key ON approvals (key, sequence);
  CREATE INDEX approvals_by_tenant ON approvals (tenant, sequence);
  CREATE INDEX approvals_not_ended ON approvals (expires_at) WHERE ended_at IS NULL;
  CREATE TABLE approval_requesters (
    approval_id text NOT NULL REFERENCES approvals (approval_id),
    audience    text NOT NULL,
    PRIMARY KEY (approval_id, audience)
  );

  CREATE TABLE break_glass (
    id         text PRIMARY KEY,
    route      text NOT NULL,
    reason     text NOT NULL,
    opened_by  text NOT NULL,
    opened_at  bigint NOT NULL,
    expires_at bigint NOT NULL,
    closed_by  text,
    closed_at  bigint,
    calls      bigint NOT NULL,
    ended_at   bigint
  );
  CREATE INDEX break_glass_in_force ON break_glass (route, expires_at) WHERE closed_at IS NULL AND ended_at IS NULL;

  CREATE TABLE baselines (
    route       text NOT NULL,
    artifact_id text NOT NULL,
    type        text NOT NULL,
    content     text NOT NULL,
    digest      text NOT NULL,
    source      text NOT NULL,
    set_by      text NOT NULL,
    set_at      bigint NOT NULL,
    PRIMARY KEY (route, artifact_id)
  );
  CREATE TABLE baseline_candidates (
    route   text PRIMARY KEY,
    type    text NOT NULL,
    content text NOT NULL,
    digest  text NOT NULL,
    seen_at bigint NOT NULL
  );
  CREATE TABLE announced_candidates (
    route  text NOT NULL,
    digest text NOT NULL,
    at     bigint NOT NULL,
    PRIMARY KEY (route, digest)
  );

  CREATE TABLE monitoring_windows (
    window_id      text PRIMARY KEY,
    correlation_id text NOT NULL,
    decision_id    text NOT NULL,
    tenant         text NOT NULL,
    route          text,
    observer       text NOT NULL CHECK (observer IN ('gateway', 'caller')),
    opened_at      bigint NOT NULL,
    closed_at      bigint,
    outcome        text
  );
  CREATE INDEX open_windows ON monitoring_windows (opened_at) WHERE closed_at IS NULL;

  CREATE TABLE api_keys (
    hash          text PRIMARY KEY,
    audience      text NOT NULL,
    tenant        text NOT NULL,
    name          text NOT NULL,
    role          text NOT NULL,
    plan          text NOT NULL,
    groups_of_key text NOT NULL,
    created_at    bigint NOT NULL,
    revoked_at    bigint
  );
  CREATE TABLE api_key_terms (hash text PRIMARY KEY, expires_at bigint, owner text);
  CREATE TABLE api_key_uses (hash text PRIMARY KEY, used_at bigint NOT NULL);
  CREATE TABLE signups (mail text PRIMARY KEY, audience text NOT NULL, at bigint NOT NULL);
  CREATE TABLE monthly_uses (
    tenant text NOT NULL,
    month  text NOT NULL,
    count  bigint NOT NULL,
    PRIMARY KEY (tenant, month)
  ) WITH (fillfactor = 20);
  CREATE TABLE probes (id integer PRIMARY KEY CHECK (id = 1), count bigint NOT NULL) WITH (fillfactor = 20);
  CREATE TABLE secrets (name text PRIMARY KEY, value text NOT NULL);

  CREATE TABLE status_lists (list text PRIMARY KEY, uri text NOT NULL, size bigint NOT NULL, opened_at bigint NOT NULL);

  CREATE TABLE notices (
    id      text PRIMARY KEY,
    kind    text NOT NULL,
    subject text NOT NULL,
    tenant  text NOT NULL,
    at      bigint NOT NULL
  );
  CREATE INDEX notices_by_time ON notices (at, id);
  CREATE TABLE deliveries (
    id           text PRIMARY KEY,
    channel      text NOT NULL,
    kind         text NOT NULL,
    subject      text NOT NULL,
    payload      text NOT NULL,
    created_at   bigint NOT NULL,
    attempts     bigint NOT NULL,
    next_at      bigint NOT NULL,
    delivered_at bigint,
    failed_at    bigint,
    problem      text
  );
  CREATE INDEX deliveries_waiting ON deliveries (channel, subject, created_at)
    WHERE delivered_at IS NULL AND failed_at IS NULL;
  CREATE INDEX deliveries_by_time ON deliveries (created_at);

  CREATE TABLE decision_inputs (decision_id text PRIMARY KEY, input text NOT NULL);
  CREATE TABLE kept_contents (
    digest  text PRIMARY KEY,
    packed  bytea NOT NULL,
    size    bigint NOT NULL,
    used_at bigint NOT NULL
  );
  CREATE INDEX kept_contents_by_use ON kept_contents (used_at, size, digest);

  CREATE TABLE observed_uses (
    target    text NOT NULL,
    consumer  text NOT NULL,
    route     text NOT NULL,
    operation text,
    tool      text,
    calls     bigint NOT NULL,
    first_at  bigint NOT NULL,
    last_at   bigint NOT NULL,
    PRIMARY KEY (target, consumer)
  );
  CREATE INDEX observed_uses_by_route ON observed_uses (route);
  CREATE INDEX observed_uses_by_age ON observed_uses (last_at);

  CREATE TABLE bindings (
    tenant     text NOT NULL,
    platform   text NOT NULL CHECK (platform IN ('scm_a', 'scm_b', 'scm_c')),
    repository text NOT NULL,
    proven_at  bigint NOT NULL,
    proven_by  text NOT NULL,
    PRIMARY KEY (tenant, platform, repository)
  );
  CREATE UNIQUE INDEX bindings_in_any_case ON bindings (tenant, platform, lower(repository));
  CREATE TABLE binding_challenges (
    challenge_id text PRIMARY KEY,
    tenant       text NOT NULL,
    platform     text NOT NULL CHECK (platform IN ('scm_a', 'scm_b', 'scm_c')),
    repository   text NOT NULL,
    marker       text NOT NULL,
    created_at   bigint NOT NULL,
    expires_at   bigint NOT NULL
  );
`

/** What no statement of the program does, and no other program should. */
const GUARDS = `
  CREATE FUNCTION preflight_final() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    RAISE EXCEPTION 'the ledger is append-only' USING ERRCODE = '23001';
  END $$;
  CREATE TRIGGER decisions_are_final BEFORE UPDATE OR DELETE ON decisions
    FOR EACH ROW EXECUTE FUNCTION preflight_final();
  CREATE TRIGGER ledger_journal_is_final BEFORE UPDATE OR DELETE ON ledger_journal
    FOR EACH ROW EXECUTE FUNCTION preflight_final();
  CREATE TRIGGER approvals_stay BEFORE DELETE ON approvals
    FOR EACH ROW EXECUTE FUNCTION preflight_final();
  CREATE TRIGGER break_glass_stays BEFORE DELETE ON break_glass
    FOR EACH ROW EXECUTE FUNCTION preflight_final();
  CREATE TRIGGER approvals_are_settled_once
    BEFORE UPDATE OF settled_state, settled_by, settled_groups, settled_comment, settled_at, valid_until ON approvals
    FOR EACH ROW WHEN (OLD.settled_state IS NOT NULL) EXECUTE FUNCTION preflight_final();
  CREATE TRIGGER approvals_end_once BEFORE UPDATE OF ended_at ON approvals
    FOR EACH ROW WHEN (OLD.ended_at IS NOT NULL) EXECUTE FUNCTION preflight_final();
  CREATE TRIGGER break_glass_is_true
    BEFORE UPDATE OF id, route, reason, opened_by, opened_at, expires_at ON break_glass
    FOR EACH ROW EXECUTE FUNCTION preflight_final();
  CREATE TRIGGER break_glass_ends_once BEFORE UPDATE OF ended_at ON break_glass
    FOR EACH ROW WHEN (OLD.ended_at IS NOT NULL) EXECUTE FUNCTION preflight_final();
`

/**
 * The journal in the database, in the bytes of sql/journal.ts: compact JSON arrays. to_json escapes as JSON.stringify does. Every
 * entry about what a gateway may hold in a cache is announced to the others at its commit.
 */
const JOURNAL = `
  CREATE FUNCTION preflight_json(VARIADIC items text[]) RETURNS text LANGUAGE sql STABLE AS $$
    SELECT '[' || array_to_string(items, ',', 'null') || ']'
  $$;
  CREATE FUNCTION preflight_digest(content text) RETURNS text LANGUAGE sql IMMUTABLE AS $$
    SELECT encode(sha256(convert_to(content, 'UTF8')), 'hex')
  $$;

  CREATE FUNCTION preflight_entry_hash(
    previous text, writer text, place bigint, entry_kind text, entry_key text, entry_digest text, ordinal bigint
  ) RETURNS text LANGUAGE sql STABLE AS $$
    SELECT 'sha256:' || preflight_digest('["' || previous || '","' || writer || '",' || place || ',"' || entry_kind || '",'
      || to_json(entry_key)::text || ',"' || entry_digest || '",' || ordinal || ']')
  $$;

  CREATE FUNCTION preflight_append(writer text, entry_kind text, entry_key text, entry_digest text) RETURNS void
  LANGUAGE plpgsql AS $$
  DECLARE
    tip ledger_chains%ROWTYPE;
    place bigint;
    next_hash text;
  BEGIN
    SELECT * INTO tip FROM ledger_chains WHERE chain = writer FOR UPDATE;
    IF NOT FOUND THEN
      RAISE EXCEPTION 'the chain % of the ledger is gone: run preflight ledger verify', writer;
    END IF;
    place := nextval('ledger_ordinal');
    next_hash := preflight_entry_hash(tip.hash, writer, tip.sequence + 1, entry_kind, entry_key, entry_digest, place);
    UPDATE ledger_chains SET sequence = tip.sequence + 1, hash = next_hash WHERE chain = writer;
    INSERT INTO ledger_journal (chain, sequence, kind, key, digest, hash, ordinal)
      VALUES (writer, tip.sequence + 1, entry_kind, entry_key, entry_digest, next_hash, place);
    -- Whoever supersedes announces it where it matters (preflight_event): announcing makes commits wait for each other.
    IF entry_kind IN ('receipt_event', 'approval', 'baseline', 'api_key', 'break_glass', 'receipt_key')
        AND entry_key NOT LIKE '%,"superseded"]' THEN
      PERFORM preflight_announce(entry_kind, entry_key);
    END IF;
  END $$;

  CREATE FUNCTION preflight_announce(entry_kind text, entry_key text) RETURNS void LANGUAGE sql AS $$
    SELECT pg_notify('preflight', left(preflight_json(to_json(entry_kind)::text, entry_key), 7900))
  $$;

  CREATE FUNCTION preflight_event(
    writer text, wanted text, new_state text, moment bigint, author text, why text
  ) RETURNS boolean LANGUAGE plpgsql AS $$
  BEGIN
    INSERT INTO receipt_events (decision_id, state, at, by, reason)
      VALUES (wanted, new_state, moment, author, why) ON CONFLICT DO NOTHING;
    IF NOT FOUND THEN RETURN false; END IF;
    PERFORM preflight_append(writer, 'receipt_event',
      preflight_json(to_json(wanted)::text, to_json(new_state)::text),
      preflight_digest(preflight_json(to_json(wanted)::text, to_json(new_state)::text, moment::text,
        to_json(author)::text, to_json(why)::text)));
    IF new_state = 'superseded' AND EXISTS (SELECT 1 FROM decisions d WHERE d.decision_id = wanted AND d.expires_at > moment) THEN
      PERFORM preflight_announce('receipt_event', preflight_json(to_json(wanted)::text, to_json(new_state)::text));
    END IF;
    RETURN true;
  END $$;
`

/** Columns that a later version added to the rows of decisions and calls. The hash chain does not cover them. */
const recording = (
  further: { readonly text: string; readonly names: string; readonly ofRow: string },
  ofCalls: { readonly text: string; readonly names: string } = further,
): string => `
  -- Rows that were there already are answered false. All gateways lock scopes by the same order, so that none waits for another
  -- that waits for it. Variables hold the head of the chain until the end: its row is written once.
  CREATE OR REPLACE FUNCTION preflight_record_decisions(writer text, given json)
  RETURNS TABLE (place integer, is_added boolean) LANGUAGE plpgsql AS $$
  #variable_conflict use_column
  DECLARE
    r record;
    tip ledger_chains%ROWTYPE;
    older text;
    entry_ordinal bigint;
    next_sequence bigint;
    next_hash text;
    entry_key text;
    entry_digest text;
  BEGIN
    SELECT * INTO tip FROM ledger_chains c WHERE c.chain = writer FOR UPDATE;
    IF NOT FOUND THEN
      RAISE EXCEPTION 'the chain % of the ledger is gone: run preflight ledger verify', writer;
    END IF;
    FOR r IN
      SELECT x.* FROM json_to_recordset(given) AS x(n integer, decision_id text, tenant text, route text, decision text,
        execution_action text, operation text, environment text, repository text, fingerprint text,
        input_fingerprint text, evaluated_at bigint, expires_at bigint, supersession_key text, envelope text,
        response text, idempotency_key text, body_digest text, status_list text, status_index bigint, audience text${further.text})
      ORDER BY x.tenant, x.supersession_key, x.n
    LOOP
      place := r.n;
      is_added := NOT EXISTS (SELECT 1 FROM decisions d WHERE d.decision_id = r.decision_id);
      IF is_added THEN
        INSERT INTO supersession_heads AS h (tenant, supersession_key, decision_id)
          VALUES (r.tenant, r.supersession_key, r.decision_id)
          ON CONFLICT (tenant, supersession_key)
          DO UPDATE SET superseded_id = h.decision_id, decision_id = excluded.decision_id
          RETURNING h.superseded_id INTO older;
        next_sequence := nextval('decision_sequence');
        next_hash := 'sha256:' || preflight_digest(preflight_json(
          to_json(tip.decision_hash)::text, next_sequence::text, to_json(r.decision_id)::text, to_json(r.tenant)::text,
          to_json(r.route)::text, to_json(r.decision)::text, to_json(r.execution_action)::text,
          to_json(r.operation)::text, to_json(r.environment)::text, to_json(r.repository)::text,
          to_json(r.fingerprint)::text, to_json(r.input_fingerprint)::text, r.evaluated_at::text, r.expires_at::text,
          to_json(r.supersession_key)::text, to_json(r.envelope)::text, to_json(r.response)::text,
          to_json(r.idempotency_key)::text, to_json(r.body_digest)::text));
        INSERT INTO decisions (sequence, decision_id, tenant, route, decision, execution_action, operation, environment,
            repository, fingerprint, input_fingerprint, evaluated_at, expires_at, supersession_key, envelope, response,
            idempotency_key, body_digest, previous_hash, hash, chain, status_list, status_index, audience${further.names})
          VALUES (next_sequence, r.decision_id, r.tenant, r.route, r.decision, r.execution_action, r.operation,
            r.environment, r.repository, r.fingerprint, r.input_fingerprint, r.evaluated_at, r.expires_at,
            r.supersession_key, r.envelope, r.response, r.idempotency_key, r.body_digest, tip.decision_hash, next_hash,
            writer, r.status_list, r.status_index, r.audience${further.ofRow});
        tip.decision_hash := next_hash;
        entry_key := '[' || to_json(r.decision_id)::text || ']';
        entry_digest := preflight_digest('[' || to_json(r.decision_id)::text || ',' || next_sequence || ',"' || next_hash || '"]');
        entry_ordinal := nextval('ledger_ordinal');
        tip.hash := preflight_entry_hash(tip.hash, writer, tip.sequence + 1, 'decision', entry_key, entry_digest, entry_ordinal);
        tip.sequence := tip.sequence + 1;
        INSERT INTO ledger_journal (chain, sequence, kind, key, digest, hash, ordinal)
          VALUES (writer, tip.sequence, 'decision', entry_key, entry_digest, tip.hash, entry_ordinal);
        IF older IS NOT NULL THEN
          UPDATE ledger_chains c SET sequence = tip.sequence, hash = tip.hash WHERE c.chain = writer;
          PERFORM preflight_event(writer, older, 'superseded', r.evaluated_at, r.decision_id, 'a newer decision');
          SELECT c.sequence, c.hash INTO tip.sequence, tip.hash FROM ledger_chains c WHERE c.chain = writer;
        END IF;
      END IF;
      RETURN NEXT;
    END LOOP;
    UPDATE ledger_chains c SET sequence = tip.sequence, hash = tip.hash, decision_hash = tip.decision_hash
      WHERE c.chain = writer;
  END $$;

  CREATE OR REPLACE FUNCTION preflight_record_calls(writer text, given json) RETURNS void LANGUAGE plpgsql AS $$
  DECLARE
    first bigint;
    last bigint;
    digest text;
  BEGIN
    -- Before the sequences are taken: those of one chain grow with its entries.
    PERFORM 1 FROM ledger_chains WHERE chain = writer FOR UPDATE;
    WITH rows AS MATERIALIZED (
      SELECT nextval('call_sequence') AS sequence, x.* FROM json_to_recordset(given) AS x(correlation_id text, tenant text,
        decision_id text, route text, protocol text, action text, execution_action text, enforced integer, effect text,
        break_glass_id text, violations text, at bigint${ofCalls.text})
    ), added AS (
      INSERT INTO interceptions (sequence, correlation_id, tenant, decision_id, route, protocol, action,
          execution_action, enforced, effect, break_glass_id, violations, at${ofCalls.names}, chain)
        SELECT rows.*, writer FROM rows
    )
    SELECT min(sequence), max(sequence), preflight_digest('[' || string_agg(preflight_json(
        sequence::text, to_json(correlation_id)::text, to_json(tenant)::text, to_json(decision_id)::text,
        to_json(route)::text, to_json(protocol)::text, to_json(action)::text, to_json(execution_action)::text,
        enforced::text, to_json(effect)::text, to_json(break_glass_id)::text, to_json(violations)::text, at::text),
        ',' ORDER BY sequence) || ']')
      INTO first, last, digest FROM rows;
    IF first IS NOT NULL THEN
      PERFORM preflight_append(writer, 'calls',
        preflight_json(to_json(first::text)::text, to_json(last::text)::text), digest);
    END IF;
  END $$;
`

/** What many calls wait for: one round trip, and one commit for all that wait. */
const HOT = `
  ${recording({ text: '', names: '', ofRow: '' })}

  CREATE FUNCTION preflight_consume(writer text, wanted text, moment bigint) RETURNS boolean LANGUAGE plpgsql AS $$
  BEGIN
    -- One of many callers at a time looks at this decision.
    PERFORM 1 FROM decisions WHERE decision_id = wanted FOR NO KEY UPDATE;
    IF NOT FOUND OR EXISTS (SELECT 1 FROM receipt_events WHERE decision_id = wanted) THEN RETURN false; END IF;
    RETURN preflight_event(writer, wanted, 'consumed', moment, '', '');
  END $$;
`

/** Months of call records in front of the present one that have their partition. */
const PARTITIONS = `
  -- Makes the partitions of call records from one moment on, for so many months; those that are there stay. The moment is a
  -- number of milliseconds since the epoch. A month with calls that the default partition has keeps them there.
  CREATE FUNCTION preflight_make_partitions(moment bigint, months integer) RETURNS void LANGUAGE plpgsql AS $$
  DECLARE
    first timestamp;
    name text;
  BEGIN
    FOR n IN 0..months LOOP
      first := date_trunc('month', to_timestamp(moment / 1000.0) AT TIME ZONE 'UTC') + make_interval(months => n);
      name := 'interceptions_' || to_char(first, 'YYYY_MM');
      CONTINUE WHEN to_regclass(name) IS NOT NULL;
      CONTINUE WHEN EXISTS (SELECT 1 FROM interceptions_other
        WHERE at >= extract(epoch FROM first) * 1000 AND at < extract(epoch FROM first + interval '1 month') * 1000);
      EXECUTE format('CREATE TABLE %I PARTITION OF interceptions FOR VALUES FROM (%s) TO (%s)', name,
        (extract(epoch FROM first) * 1000)::bigint, (extract(epoch FROM first + interval '1 month') * 1000)::bigint);
    END LOOP;
  END $$;
`

/** Each entry is the statements of one version. */
export const MIGRATIONS: readonly string[] = [
  TABLES + GUARDS + JOURNAL + HOT + PARTITIONS,
  // What happens to a request besides its opening and its decision.
  `
  CREATE TABLE approval_steps (
    step_id        text PRIMARY KEY,
    approval_id    text NOT NULL,
    kind           text NOT NULL,
    by_whom        text NOT NULL,
    groups_of_step text NOT NULL,
    text           text NOT NULL,
    at             bigint NOT NULL
  );
  CREATE INDEX approval_steps_by_request ON approval_steps (approval_id, at);
  `,
  // Each gateway verifies the receipts of the others.
  `
  CREATE TABLE receipt_keys (
    kid        text PRIMARY KEY,
    x          text NOT NULL,
    valid_from bigint NOT NULL,
    retired_at bigint,
    revoked_at bigint
  );
  `,
  // Who uses this store. Not protected: nothing rests on it.
  `
  CREATE TABLE fleet_members (
    member_id   text PRIMARY KEY,
    kind        text NOT NULL,
    name        text NOT NULL,
    proof       text,
    tenant      text NOT NULL,
    host        text NOT NULL,
    hub         text,
    version     text NOT NULL,
    tier        text NOT NULL,
    mode        text,
    config_hash text NOT NULL,
    policy_name text NOT NULL,
    policy_hash text NOT NULL,
    started_at  bigint NOT NULL,
    seen_at     bigint NOT NULL,
    stopped_at  bigint,
    lag         bigint
  );
  `,
  // Acts that wait for their entry in the decision log.
  `
  CREATE TABLE acts (
    id            text PRIMARY KEY,
    at            bigint NOT NULL,
    is_logged     bigint NOT NULL,
    facts         text NOT NULL,
    claimed_until bigint NOT NULL
  );
  CREATE INDEX acts_by_time ON acts (at, id);
  `,
  // Rights to grant that approvers hand to others for a time.
  `
  CREATE TABLE approval_delegations (
    delegation_id        text PRIMARY KEY,
    tenant               text NOT NULL,
    by_whom              text NOT NULL,
    groups_of_delegation text NOT NULL,
    to_whom              text NOT NULL,
    approval_id          text,
    reason               text NOT NULL,
    at                   bigint NOT NULL,
    until                bigint NOT NULL,
    ended_at             bigint,
    ended_by             text
  );
  CREATE INDEX approval_delegations_by_person ON approval_delegations (tenant, to_whom, until);
  `,
  // Where each chain begins after its beginning was removed. The triggers let only rows before that go.
  `
  CREATE TABLE ledger_cuts (
    chain         text NOT NULL,
    sequence      bigint NOT NULL,
    hash          text NOT NULL,
    decision      bigint NOT NULL,
    decision_hash text,
    call          bigint NOT NULL,
    at            bigint NOT NULL,
    token         text NOT NULL,
    -- Null: rows before the cut are still being removed.
    removed_at    bigint,
    PRIMARY KEY (chain, sequence)
  );
  CREATE FUNCTION preflight_decision_stays() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    IF OLD.sequence > coalesce((SELECT max(decision) FROM ledger_cuts WHERE chain = OLD.chain), 0) THEN
      RAISE EXCEPTION 'the ledger is append-only' USING ERRCODE = '23001';
    END IF;
    RETURN OLD;
  END $$;
  CREATE FUNCTION preflight_entry_stays() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    IF OLD.sequence > coalesce((SELECT max(sequence) FROM ledger_cuts WHERE chain = OLD.chain), 0) THEN
      RAISE EXCEPTION 'the ledger is append-only' USING ERRCODE = '23001';
    END IF;
    RETURN OLD;
  END $$;
  DROP TRIGGER decisions_are_final ON decisions;
  CREATE TRIGGER decisions_are_final BEFORE UPDATE ON decisions FOR EACH ROW EXECUTE FUNCTION preflight_final();
  CREATE TRIGGER decisions_stay BEFORE DELETE ON decisions FOR EACH ROW EXECUTE FUNCTION preflight_decision_stays();
  DROP TRIGGER ledger_journal_is_final ON ledger_journal;
  CREATE TRIGGER ledger_journal_is_final BEFORE UPDATE ON ledger_journal FOR EACH ROW EXECUTE FUNCTION preflight_final();
  CREATE TRIGGER ledger_journal_stays BEFORE DELETE ON ledger_journal FOR EACH ROW EXECUTE FUNCTION preflight_entry_stays();

  -- Whether this partition has a call that is not removed. Kept calls begin with the first one of an entry: the index finds them.
  CREATE FUNCTION preflight_is_kept(part regclass) RETURNS boolean LANGUAGE plpgsql AS $$
  DECLARE
    first_kept bigint;
    found_one boolean;
  BEGIN
    SELECT min(e.first_call) INTO first_kept FROM ledger_chains c, LATERAL (
      SELECT (j.key::json ->> 0)::bigint AS first_call FROM ledger_journal j
        WHERE j.chain = c.chain AND j.kind = 'calls'
          AND j.sequence > coalesce((SELECT max(k.sequence) FROM ledger_cuts k WHERE k.chain = c.chain), 0)
        ORDER BY j.sequence LIMIT 1) e;
    EXECUTE format('SELECT EXISTS (SELECT 1 FROM %s i WHERE i.sequence >= $1
        AND i.sequence > coalesce((SELECT max(k.call) FROM ledger_cuts k WHERE k.chain = i.chain), 0))', part)
      INTO found_one USING first_kept;
    RETURN found_one;
  END $$;

  -- Drops one partition of a past month whose calls are all removed. Answers about how many calls went with it.
  CREATE FUNCTION preflight_drop_partitions() RETURNS bigint LANGUAGE plpgsql AS $$
  DECLARE
    part record;
  BEGIN
    FOR part IN
      SELECT c.oid::regclass AS name, greatest(c.reltuples, 1)::bigint AS calls,
          (to_date(right(c.relname, 7), 'YYYY_MM') + interval '1 month') AT TIME ZONE 'UTC' AS month_end
        FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
        WHERE i.inhparent = 'interceptions'::regclass AND c.relname ~ '^interceptions_[0-9]{4}_[0-9]{2}$'
        ORDER BY c.relname
    LOOP
      CONTINUE WHEN part.month_end + interval '1 day' > now();
      CONTINUE WHEN preflight_is_kept(part.name);
      BEGIN
        -- The order of locks is that of writers. Whoever waits for this lock waits a second at most.
        PERFORM set_config('lock_timeout', '1s', true);
        LOCK TABLE ONLY interceptions IN ACCESS EXCLUSIVE MODE;
        EXECUTE format('LOCK TABLE %s IN ACCESS EXCLUSIVE MODE', part.name);
        CONTINUE WHEN preflight_is_kept(part.name);
        EXECUTE format('DROP TABLE %s', part.name);
        RETURN part.calls;
      EXCEPTION WHEN lock_not_available THEN
        -- A long query reads it. Its rows are removed one by one, and the partition another time.
        NULL;
      END;
    END LOOP;
    RETURN 0;
  END $$;
  `,
  // Tasks of the webhooks of platforms, and what is shown at commits.
  `
  CREATE TABLE webhook_deliveries (
    platform    text NOT NULL,
    delivery_id text NOT NULL,
    digest      text NOT NULL,
    subject     text NOT NULL,
    task        text NOT NULL,
    received_at bigint NOT NULL,
    attempts    bigint NOT NULL,
    next_at     bigint NOT NULL,
    done_at     bigint,
    problem     text,
    PRIMARY KEY (platform, delivery_id)
  );
  CREATE UNIQUE INDEX webhook_deliveries_by_digest ON webhook_deliveries (platform, digest);
  CREATE INDEX webhook_deliveries_waiting ON webhook_deliveries (platform, subject, received_at) WHERE done_at IS NULL;
  CREATE INDEX webhook_deliveries_done ON webhook_deliveries (done_at);
  CREATE TABLE merge_checks (
    platform    text NOT NULL,
    repository  text NOT NULL,
    commit_sha  text NOT NULL,
    subject     text NOT NULL,
    tenant      text NOT NULL,
    task        text NOT NULL,
    decision_id text,
    approval_id text,
    report      text NOT NULL,
    shown       text,
    at          bigint NOT NULL,
    PRIMARY KEY (platform, repository, commit_sha, subject)
  );
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
  ALTER TABLE decisions ADD COLUMN trace_id text;
  ALTER TABLE interceptions ADD COLUMN trace_id text;
  CREATE INDEX decisions_by_trace ON decisions (tenant, trace_id, sequence) WHERE trace_id IS NOT NULL;
  CREATE INDEX interceptions_by_trace ON interceptions (trace_id, sequence) WHERE trace_id IS NOT NULL;
  ${recording({ text: ', trace_id text', names: ', trace_id', ofRow: ', r.trace_id' })}
  `,
  // Where a chat shows the message about a subject: later ones update it, or follow in its thread.
  `
  ALTER TABLE deliveries ADD COLUMN reference text;
  CREATE INDEX deliveries_by_reference ON deliveries (channel, subject, created_at) WHERE reference IS NOT NULL;
  `,
  // An index of every trace id is rewritten in random places: only those of sampled traces stay in it. Rows that were there
  // already stay.
  `
  ALTER TABLE interceptions ADD COLUMN trace_is_sampled integer DEFAULT 1;
  DROP INDEX interceptions_by_trace;
  CREATE INDEX interceptions_by_trace ON interceptions (trace_id, sequence)
    WHERE trace_id IS NOT NULL AND trace_is_sampled = 1;
  ${recording(
    { text: ', trace_id text', names: ', trace_id', ofRow: ', r.trace_id' },
    { text: ', trace_id text, trace_is_sampled integer', names: ', trace_id, trace_is_sampled' },
  )}
  `,
  // The spans of the call that waits and of the decision: what rests on the approval links to them.
  `
  ALTER TABLE approvals ADD COLUMN opened_in text;
  ALTER TABLE approvals ADD COLUMN settled_in text;
  `,
  // The latest time that has come: a gateway that starts under an earlier clock continues from it.
  `
  CREATE TABLE latest_time (id integer PRIMARY KEY CHECK (id = 1), at bigint NOT NULL) WITH (fillfactor = 20);
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
  // A call may need several receipts: all of them are used, or none.
  `
  CREATE FUNCTION preflight_consume_all(writer text, wanted text[], moment bigint) RETURNS boolean LANGUAGE plpgsql AS $$
  DECLARE
    found integer;
  BEGIN
    -- One of many callers at a time looks at these decisions. All lock them sorted by id.
    PERFORM 1 FROM decisions WHERE decision_id = ANY (wanted) ORDER BY decision_id FOR NO KEY UPDATE;
    GET DIAGNOSTICS found = ROW_COUNT;
    IF found <> cardinality(wanted) OR EXISTS (SELECT 1 FROM receipt_events WHERE decision_id = ANY (wanted))
      THEN RETURN false;
    END IF;
    FOR n IN 1..found LOOP
      PERFORM preflight_event(writer, wanted[n], 'consumed', moment, '', '');
    END LOOP;
    RETURN true;
  END $$;
  `,
]

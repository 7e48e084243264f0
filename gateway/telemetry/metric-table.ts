/**
 * Every metric of the gateway, as one table: names, kinds, labels and help (docs/metrics.md is made from it). Label values
 * are bounded: routes and sinks come from the configuration, all else from closed sets; tools, paths and ids never label. Longer than other files: one row a metric, in one place.
 */
const FAST = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]
/** 50 µs to 60 s: from a cached verdict to a stream. */
const WIDE = [
  0.000_05, 0.000_1, 0.000_25, 0.000_5, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60,
]
/** A minute to a week: people decide. */
const WAITS = [60, 300, 900, 3600, 14_400, 43_200, 86_400, 259_200, 604_800]
const LONG = [0.005, 0.025, 0.1, 0.5, 1, 2.5, 5, 10, 30, 60]

/** One row a metric. `buckets` (seconds) make it a histogram. */
export interface MetricSpec {
  readonly name: string
  readonly type: 'counter' | 'gauge' | 'histogram'
  readonly labels: readonly string[]
  readonly help: string
  readonly buckets?: readonly number[]
}

export const METRICS = [
  {
    name: 'preflight_decisions_total',
    type: 'counter',
    labels: ['execution_action', 'route', 'operation'],
    help: 'Decisions issued. route is "api" for direct callers; operation is "other" outside the known ones.',
  },
  {
    name: 'preflight_observed_decisions_total',
    type: 'counter',
    labels: ['would', 'route', 'operation'],
    help: 'Decisions of packs that observe, or have rules that do, by what they would be if everything were enforced: ALLOW, WARN, REQUIRE_APPROVAL, BLOCK.',
  },
  {
    name: 'preflight_findings_total',
    type: 'counter',
    labels: ['level'],
    help: 'Findings in issued decisions, by level.',
  },
  {
    name: 'preflight_approvals_total',
    type: 'counter',
    labels: ['event'],
    help: 'Requests for approval: opened, joined (asked again while one stands), granted, denied (both by the API of this process), used (a decision rests on a grant).',
  },
  {
    name: 'preflight_notifications_total',
    type: 'counter',
    labels: ['channel', 'result'],
    help: 'Tries to deliver a message to people, by channel: delivered, retried, given_up.',
  },
  {
    name: 'preflight_notifications_waiting',
    type: 'gauge',
    labels: [],
    help: 'Messages to people that wait to be delivered, of all channels.',
  },
  {
    name: 'preflight_notifications_oldest_seconds',
    type: 'gauge',
    labels: [],
    help: 'Age of the oldest message to people that waits; 0: none waits.',
  },
  {
    name: 'preflight_analysis_seconds',
    type: 'histogram',
    labels: ['type'],
    help: 'Time to compare one artifact, by artifact type.',
    buckets: LONG,
  },
  {
    name: 'preflight_analysis_failures_total',
    type: 'counter',
    labels: ['type'],
    help: 'Artifacts that could not be compared (unreadable, over a limit, timed out, fault).',
  },
  {
    name: 'preflight_calls_total',
    type: 'counter',
    labels: ['route', 'outcome'],
    help: 'Intercepted calls: forwarded, stopped, held (approval needed), undecided, observed (would have been held or stopped), failed_open, break_glass (went on under an exception), passed (not judged), refused (ambiguous or unreadable).',
  },
  {
    name: 'preflight_observed_calls_total',
    type: 'counter',
    labels: ['route', 'would'],
    help: 'Calls of routes that observe, by what would have become of them: stopped, held, undecided. All of them went on.',
  },
  {
    name: 'preflight_call_decision_seconds',
    type: 'histogram',
    labels: ['route'],
    help: 'Time that judging added to a call, from the whole request to the verdict.',
    buckets: FAST,
  },
  {
    name: 'preflight_calls_open',
    type: 'gauge',
    labels: [],
    help: 'Calls under way through the proxy.',
  },
  {
    name: 'preflight_authz_checks_total',
    type: 'counter',
    labels: ['transport', 'result'],
    help: 'Questions of other proxies (ext_authz) over http and grpc, by answer: allow, deny, gone (whoever asked went away).',
  },
  {
    name: 'preflight_admission_reviews_total',
    type: 'counter',
    labels: ['webhook', 'result'],
    help: 'Reviews of Kubernetes API servers (webhook: admission, injector), by result: allowed, denied, failed (no answer that the API server can use).',
  },
  {
    name: 'preflight_admission_seconds',
    type: 'histogram',
    labels: ['route'],
    help: 'Time to judge a write that an API server asks about, by route.',
    buckets: FAST,
  },
  {
    name: 'preflight_calls_held',
    type: 'gauge',
    labels: [],
    help: 'Calls that wait for an approval now.',
  },
  {
    name: 'preflight_memory_budget_bytes',
    type: 'gauge',
    labels: [],
    help: 'Memory that request bodies and analyses may take together, derived from what the process may use.',
  },
  {
    name: 'preflight_memory_held_bytes',
    type: 'gauge',
    labels: [],
    help: 'Memory of the budget that request bodies and analyses hold now.',
  },
  {
    name: 'preflight_memory_waiting',
    type: 'gauge',
    labels: [],
    help: 'Request bodies and analyses that wait for memory of the budget now.',
  },
  {
    name: 'preflight_receipts_presented_total',
    type: 'counter',
    labels: ['route', 'result'],
    help: 'Receipts that came with calls and were looked at: authorized, or the reason why not; missing where one was needed and none came.',
  },
  {
    name: 'preflight_break_glass_open',
    type: 'gauge',
    labels: [],
    help: 'Break-glass exceptions in force: routes on which enforcement is suspended.',
  },
  {
    name: 'preflight_break_glass_calls_total',
    type: 'counter',
    labels: ['route'],
    help: 'Calls that went on only because of a break-glass exception.',
  },
  {
    name: 'preflight_connections_total',
    type: 'counter',
    labels: ['entrance', 'outcome'],
    help: 'CONNECT requests and redirected connections by outcome: `intercepted`, `tunnelled`, `denied` (egress policy), `refused` (unreadable, wrong name, no key or too many), `unreachable`, `abandoned` (the client disconnected or sent nothing).',
  },
  {
    name: 'preflight_egress_denials_total',
    type: 'counter',
    labels: ['entrance', 'reason'],
    help: 'Destinations that the egress policy refused: not_allowed, denied, metadata, special_address, own_listener.',
  },
  {
    name: 'preflight_tls_handshakes_total',
    type: 'counter',
    labels: ['result'],
    help: 'TLS handshakes with agents on intercepted connections: done, failed (agents that do not trust the authority end here), timed_out, wrong_name.',
  },
  {
    name: 'preflight_listener_tls_handshakes_total',
    type: 'counter',
    labels: ['listener', 'result'],
    help: 'TLS handshakes on the own listeners (tls.listeners): done, failed (also clients without a valid certificate, where one is required).',
  },
  {
    name: 'preflight_listener_certificate_end_seconds',
    type: 'gauge',
    labels: ['listener'],
    help: 'When the certificate of a listener (tls.listeners) ends, as seconds since the epoch.',
  },
  {
    name: 'preflight_interception_ca_end_seconds',
    type: 'gauge',
    labels: [],
    help: 'When the authority that signs for intercepted connections ends, as seconds since the epoch; 0 until it first signs.',
  },
  {
    name: 'preflight_tunnels_open',
    type: 'gauge',
    labels: [],
    help: 'Tunnels open now.',
  },
  {
    name: 'preflight_tunnel_bytes_total',
    type: 'counter',
    labels: ['direction'],
    help: 'Bytes that went through tunnels, counted when they close: sent (to the destination), received.',
  },
  {
    name: 'preflight_contract_checks_total',
    type: 'counter',
    labels: ['route', 'side', 'result'],
    help: 'Requests and answers of routes that validate, checked against the pinned contract: `conforms`, `violates` (an answer: TOOL_RESULT_SHAPE_DRIFT), `unchecked` (the contract states nothing to check), `failed`.',
  },
  {
    name: 'preflight_upstream_errors_total',
    type: 'counter',
    labels: ['route', 'code'],
    help: 'Upstream faults: UPSTREAM_UNREACHABLE, UPSTREAM_TIMEOUT, UPSTREAM_RESET (broke off in the middle of an answer), UPSTREAM_SILENT (fell silent in the middle of an answer for longer than `timeout.idle`).',
  },
  {
    name: 'preflight_written_objects_total',
    type: 'counter',
    labels: ['route', 'result'],
    help: 'Objects written whose new state was judged beforehand: as_judged, differs (somebody else wrote in between), unchecked (the answer does not hold the object).',
  },
  {
    name: 'preflight_client_aborts_total',
    type: 'counter',
    labels: ['route'],
    help: 'Calls whose client went away before the answer was whole.',
  },
  {
    name: 'preflight_cache_requests_total',
    type: 'counter',
    labels: ['cache', 'result'],
    help: 'Look-ups in a cache (verdict, comparison, manifest, certificate) that hit or missed.',
  },
  {
    name: 'preflight_contract_refreshes_total',
    type: 'counter',
    labels: ['route', 'result'],
    help: 'Times the contract now offered was read: unchanged, changed, failed.',
  },
  {
    name: 'preflight_baseline_candidate_pending',
    type: 'gauge',
    labels: ['route'],
    help: '1 while the upstream of a route offers another contract than the baseline; 0 when it offers the baseline.',
  },
  {
    name: 'preflight_baseline_candidates_total',
    type: 'counter',
    labels: ['route'],
    help: 'Changed contracts of the upstream of a route, each counted once, when it was first seen.',
  },
  {
    name: 'preflight_baseline_set_timestamp_seconds',
    type: 'gauge',
    labels: ['route'],
    help: 'When the baseline of a route was set or confirmed (seconds since the epoch), as this process uses it.',
  },
  {
    name: 'preflight_store_listening',
    type: 'gauge',
    labels: [],
    help: '1 while changes of other gateways in a shared store are announced to this one.',
  },
  {
    name: 'preflight_store_seconds',
    type: 'histogram',
    labels: ['operation'],
    help: 'Time until the store answered, by operation.',
    buckets: FAST,
  },
  {
    name: 'preflight_store_failures_total',
    type: 'counter',
    labels: ['operation'],
    help: 'Store operations that failed.',
  },
  {
    name: 'preflight_monitoring_windows_open',
    type: 'gauge',
    labels: [],
    help: 'Monitoring windows open now.',
  },
  {
    name: 'preflight_monitoring_windows_closed_total',
    type: 'counter',
    labels: ['outcome'],
    help: 'Monitoring windows closed, by outcome: SUCCEEDED, FAILED, NOT_SENT, UNKNOWN.',
  },
  {
    name: 'preflight_monitoring_refusals_total',
    type: 'counter',
    labels: [],
    help: 'Executions that asked for monitoring and did not go on because no sink took events (MONITORING_UNWIRED).',
  },
  {
    name: 'preflight_sink_queue_events',
    type: 'gauge',
    labels: ['sink'],
    help: 'Telemetry events not yet acknowledged by a sink.',
  },
  {
    name: 'preflight_sink_events_total',
    type: 'counter',
    labels: ['sink', 'result'],
    help: 'Telemetry events by what became of them: spooled (on disk), acknowledged (delivered), refused (spool full, never taken), rejected (the receiver acknowledged the batch and would not have them). None that was taken is dropped.',
  },
  {
    name: 'preflight_sink_wired',
    type: 'gauge',
    labels: ['sink'],
    help: '1 while a sink takes events; 0 when its spool is full or its output broken.',
  },
  {
    name: 'preflight_sink_backlog_age_seconds',
    type: 'gauge',
    labels: ['sink'],
    help: 'Age of the oldest event that a network sink has not delivered; 0: none waits.',
  },
  {
    name: 'preflight_decision_log_entries_total',
    type: 'counter',
    labels: ['result'],
    help: 'Entries of the decision log: written, lost (a sink did not take them; with on_full: block, nothing took effect), dropped (by decision_log.drop).',
  },
  {
    name: 'preflight_sink_delivery_failures_total',
    type: 'counter',
    labels: ['sink'],
    help: 'Deliveries that a sink did not acknowledge; they are tried again.',
  },
  {
    name: 'preflight_otlp_exports_total',
    type: 'counter',
    labels: ['signal', 'result'],
    help: 'Spans and metrics (label signal: traces, metrics) exported over OTLP: sent, failed (lost after three attempts).',
  },
  {
    name: 'preflight_reloads_total',
    type: 'counter',
    labels: ['what', 'result'],
    help: 'Hot reloads of config and policy: applied, refused (mistakes; the old one stays).',
  },
  {
    name: 'preflight_reloads_weaker_total',
    type: 'counter',
    labels: ['result'],
    help: 'Hot reloads that enforce less than what is in force: applied with a warning, refused with reload: refuse_weaker.',
  },
  {
    name: 'preflight_settings_generation',
    type: 'gauge',
    labels: [],
    help: 'Generation of configuration and policy in force.',
  },
  {
    name: 'preflight_settings_mistakes',
    type: 'gauge',
    labels: [],
    help: 'Mistakes in configuration and policy as they are on disk, which therefore are not in force. 0: what is on disk is in force.',
  },
  {
    name: 'preflight_data_dir_free_bytes',
    type: 'gauge',
    labels: [],
    help: 'Room left for this user on the volume of data_dir. Without room nothing can be decided.',
  },
  {
    name: 'preflight_event_loop_busy_seconds_total',
    type: 'counter',
    labels: [],
    help: 'Time that the main thread was at work. Its rate is the load of the thread that every call passes: near 1 they wait for each other.',
  },
  {
    name: 'preflight_api_requests_total',
    type: 'counter',
    labels: ['endpoint', 'status'],
    help: 'API requests by route template and status code.',
  },
  {
    name: 'preflight_api_request_seconds',
    type: 'histogram',
    labels: ['endpoint'],
    help: 'Time to answer an API request, by route template.',
    buckets: LONG,
  },
  {
    name: 'preflight_tier_info',
    type: 'gauge',
    labels: ['tier'],
    help: '1 for the tier in force (sidecar, gateway, verifier), 0 for the others.',
  },
  {
    name: 'preflight_build_info',
    type: 'gauge',
    labels: ['version', 'node'],
    help: 'Version of the gateway and of its Node.js; always 1.',
  },
  {
    name: 'process_start_time_seconds',
    type: 'gauge',
    labels: [],
    help: 'When the process started (seconds since the epoch).',
  },
  {
    name: 'process_cpu_seconds_total',
    type: 'counter',
    labels: [],
    help: 'CPU time of all threads, user and system.',
  },
  {
    name: 'process_resident_memory_bytes',
    type: 'gauge',
    labels: [],
    help: 'Resident memory of the process.',
  },
  {
    name: 'preflight_ledger_checkpoints_total',
    type: 'counter',
    labels: ['result'],
    help: 'Signed heads of the ledger: written, failed.',
  },
  {
    name: 'preflight_ledger_checkpoint_sequence',
    type: 'gauge',
    labels: [],
    help: 'Entry of the ledger that was signed last. It never falls: a ledger that was cut or replaced shows here.',
  },
  {
    name: 'preflight_ledger_bytes',
    type: 'gauge',
    labels: [],
    help: 'Bytes that the rows of the store use, measured at each run of ledger.retention.',
  },
  {
    name: 'preflight_ledger_pruned_rows_total',
    type: 'counter',
    labels: [],
    help: 'Rows that ledger.retention removed.',
  },
  {
    name: 'preflight_ledger_checkpoint_hash',
    type: 'gauge',
    labels: [],
    help: 'The first 12 hex digits of the hash of that entry, as a number: with the history of this metric a changed ledger shows.',
  },
  {
    name: 'preflight_call_seconds',
    type: 'histogram',
    labels: ['route'],
    help: 'Time of an intercepted call, from its request head to the end of its answer. Waiting for an approval and streams count in full.',
    buckets: WIDE,
  },
  {
    name: 'preflight_call_stage_seconds',
    type: 'histogram',
    labels: ['protocol', 'stage'],
    help: 'Time that a call or an API request spent in one stage: intercept, gather, analyze, decide, record, enforce, observe. Stages that it did not reach do not count.',
    buckets: WIDE,
  },
  {
    name: 'preflight_upstream_seconds',
    type: 'histogram',
    labels: ['route'],
    help: 'Time from sending a call to the head of the answer of its upstream.',
    buckets: WIDE,
  },
  {
    name: 'preflight_call_responses_total',
    type: 'counter',
    labels: ['route', 'class'],
    help: 'Answers to intercepted calls by class of their HTTP status: 1xx, 2xx, 3xx, 4xx, 5xx, none (the client got no answer).',
  },
  {
    name: 'preflight_call_bytes_total',
    type: 'counter',
    labels: ['route', 'direction'],
    help: 'Body bytes of forwarded calls, counted when they end: sent (to the upstream), received (from it).',
  },
  {
    name: 'preflight_call_decisions_total',
    type: 'counter',
    labels: ['protocol', 'route', 'decision', 'mode'],
    help: 'Judged calls by the decision that holds for them: ALLOW, WARN, REQUIRE_APPROVAL, BLOCK, receipt (a receipt came with the call), receipt_required, undecided; mode is enforce or observe.',
  },
  {
    name: 'preflight_decision_reasons_total',
    type: 'counter',
    labels: ['decision', 'reason'],
    help: 'Issued decisions other than ALLOW by the first of their reasons; "finding" where it is the code of a rule or of a policy.',
  },
  {
    name: 'preflight_approval_wait_seconds',
    type: 'histogram',
    labels: ['decision'],
    help: 'Time from the opening of a request for approval to its decision: granted, denied. By the API of this process.',
    buckets: WAITS,
  },
  {
    name: 'preflight_policy_info',
    type: 'gauge',
    labels: ['name', 'hash'],
    help: 'The policy in force, by name and the first 12 hex digits of policy_hash; always 1.',
  },
  {
    name: 'preflight_config_info',
    type: 'gauge',
    labels: ['hash'],
    help: 'The configuration in force, by the first 12 hex digits of its SHA-256; always 1. Gateways with one configuration have one hash.',
  },
  {
    name: 'preflight_settings_success_timestamp_seconds',
    type: 'gauge',
    labels: [],
    help: 'When configuration and policy were last read without a mistake, as seconds since the epoch.',
  },
  {
    name: 'preflight_ledger_entries',
    type: 'gauge',
    labels: [],
    help: 'Entries of the ledger of this gateway, as of the last checkpoint.',
  },
  {
    name: 'preflight_ledger_checkpoint_timestamp_seconds',
    type: 'gauge',
    labels: [],
    help: 'When the head of the ledger was last found to be signed, as seconds since the epoch.',
  },
  {
    name: 'preflight_store_writable',
    type: 'gauge',
    labels: [],
    help: '1 while the store takes writes; 0 from a failed write until one succeeds.',
  },
  {
    name: 'preflight_event_loop_delay_seconds',
    type: 'gauge',
    labels: ['quantile'],
    help: 'Delay of the event loop of the main thread since the last scrape, by quantile: 0.5, 0.99, 1 (the longest).',
  },
] as const satisfies readonly MetricSpec[]

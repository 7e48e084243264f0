/**
 * The Grafana dashboards of the chart, from one table: a row a panel, with its queries. No metric is without a panel or an
 * alert (test/packaging/alerts.test.ts). No query is empty (test/packaging/prometheus.test.ts).
 */
import type { GeneratedFile } from './validators.ts'

interface Query {
  readonly expr: string
  readonly legend: string
}

interface Panel {
  readonly title: string
  readonly description: string
  /** Of Grafana: s, bytes, reqps, short, percentunit … */
  readonly unit: string
  readonly kind?: 'timeseries' | 'stat' | 'table'
  readonly queries: readonly Query[]
}

interface Dashboard {
  readonly uid: string
  readonly title: string
  readonly rows: readonly { readonly title: string; readonly panels: readonly Panel[] }[]
}

const POD = 'job=~"$job",namespace=~"$namespace",pod=~"$pod"'
const ROUTE = `${POD},route=~"$route"`

/** Rate of a counter, summed by labels; 0 where nothing has counted yet. */
function rate(metric: string, by: string, selector: string = POD): string {
  const sum = `sum${by === '' ? '' : ` by (${by})`} (rate(${metric}{${selector}}[$__rate_interval]))`
  return `${sum} or vector(0)`
}

const total = (metric: string, selector: string = POD): string => `sum(${metric}{${selector}})`

function quantile(part: number, metric: string, by = '', selector: string = POD): string {
  const labels = by === '' ? 'le' : `le, ${by}`
  return `histogram_quantile(${part}, sum by (${labels}) (rate(${metric}_bucket{${selector}}[$__rate_interval]))) or vector(0)`
}

const quantiles = (metric: string, selector: string = POD): readonly Query[] => [
  { expr: quantile(0.5, metric, '', selector), legend: 'p50' },
  { expr: quantile(0.95, metric, '', selector), legend: 'p95' },
  { expr: quantile(0.99, metric, '', selector), legend: 'p99' },
]

const one = (legend: string, expr: string): readonly Query[] => [{ expr, legend }]

/** Calls that the gateway served: it decided, and its own fault is no reason for a refusal. */
const SERVED = `sum(rate(preflight_calls_total{${ROUTE},outcome!~"undecided|failed_open"}[$__rate_interval]))`
const ALL_CALLS = `sum(rate(preflight_calls_total{${ROUTE}}[$__rate_interval]))`

const OVERVIEW: Dashboard = {
  uid: 'preflight-gateway',
  title: 'Preflight: overview',
  rows: [
    {
      title: 'Are agents served?',
      panels: [
        {
          title: 'Calls that were judged',
          description: 'Share of calls with a decision. The objective is 99.9 %.',
          unit: 'percentunit',
          kind: 'stat',
          queries: one('judged', `(${SERVED}) / (${ALL_CALLS} > 0) or vector(1)`),
        },
        {
          title: 'Ready, by check',
          description: 'The checks of /readyz: 1 where every gateway is ready.',
          unit: 'short',
          queries: one('{{check}}', `min by (check) (preflight_ready{${POD}})`),
        },
        {
          title: 'Calls by outcome',
          description: 'Outcomes of intercepted calls.',
          unit: 'reqps',
          queries: one('{{outcome}}', rate('preflight_calls_total', 'outcome', ROUTE)),
        },
        {
          title: 'Answers by class',
          description: 'What clients got.',
          unit: 'reqps',
          queries: one('{{class}}', rate('preflight_call_responses_total', 'class', ROUTE)),
        },
        {
          title: 'Time of a call',
          description: 'From the head of the request to the end of the answer.',
          unit: 's',
          queries: quantiles('preflight_call_seconds', ROUTE),
        },
        {
          title: 'In flight',
          description: 'Calls, tunnels and calls that wait for an approval.',
          unit: 'short',
          queries: [
            { expr: total('preflight_calls_open'), legend: 'calls' },
            { expr: total('preflight_calls_held'), legend: 'pending' },
            { expr: total('preflight_tunnels_open'), legend: 'tunnels' },
          ],
        },
        {
          title: 'Upstream faults',
          description: 'Upstreams that did not answer, or broke off.',
          unit: 'reqps',
          queries: one('{{route}} {{code}}', rate('preflight_upstream_errors_total', 'route, code', ROUTE)),
        },
      ],
    },
    {
      title: 'What is stopped, what waits?',
      panels: [
        {
          title: 'Not forwarded, by route',
          description: 'Calls that were stopped, held, undecided or refused.',
          unit: 'reqps',
          queries: one(
            '{{route}} {{outcome}}',
            rate('preflight_calls_total', 'route, outcome', `${ROUTE},outcome=~"stopped|held|undecided|refused"`),
          ),
        },
        {
          title: 'Requests for approval',
          description: 'How many nobody has decided, and the age of the oldest.',
          unit: 'short',
          queries: [
            { expr: `max(preflight_approvals_pending{${POD}})`, legend: 'pending' },
            {
              expr: `max((time() - (preflight_approval_oldest_timestamp_seconds{${POD}} > 0)) / 60) or vector(0)`,
              legend: 'oldest, minutes',
            },
          ],
        },
        {
          title: 'Exceptions and failed open',
          description: 'Break-glass exceptions in force, and calls that were forwarded without an allowing decision.',
          unit: 'short',
          queries: [
            { expr: `max(preflight_break_glass_open{${POD}})`, legend: 'exceptions' },
            { expr: rate('preflight_break_glass_calls_total', 'route', ROUTE), legend: '{{route}} break-glass' },
            {
              expr: rate('preflight_calls_total', 'route', `${ROUTE},outcome="failed_open"`),
              legend: '{{route}} failed open',
            },
          ],
        },
        {
          title: 'Would have been stopped',
          description: 'Calls of routes that observe.',
          unit: 'reqps',
          queries: one('{{route}} {{would}}', rate('preflight_observed_calls_total', 'route, would', ROUTE)),
        },
        {
          title: 'Clients that disconnected',
          description: 'Calls whose client disconnected before the answer was complete.',
          unit: 'reqps',
          queries: one('{{route}}', rate('preflight_client_aborts_total', 'route', ROUTE)),
        },
        {
          title: 'Pull requests',
          description:
            'Deliveries of webhooks, the checks that they lead to, and attested change sets compared with the platform.',
          unit: 'short',
          queries: [
            { expr: rate('preflight_webhook_deliveries_total', 'platform, result'), legend: '{{platform}} {{result}}' },
            { expr: rate('preflight_merge_checks_total', 'platform, result'), legend: 'check {{platform}} {{result}}' },
            { expr: rate('preflight_reconciliations_total', 'result'), legend: '{{result}}' },
            { expr: total('preflight_webhook_waiting'), legend: 'waiting' },
            { expr: `max(preflight_webhook_oldest_seconds{${POD}})`, legend: 'oldest, seconds' },
          ],
        },
        {
          title: 'Notifications',
          description: 'Messages to people, and those that wait.',
          unit: 'short',
          queries: [
            { expr: rate('preflight_notifications_total', 'channel, result'), legend: '{{channel}} {{result}}' },
            { expr: total('preflight_notifications_waiting'), legend: 'waiting' },
            { expr: `max(preflight_notifications_oldest_seconds{${POD}})`, legend: 'oldest, seconds' },
          ],
        },
      ],
    },
  ],
}

const DECISIONS: Dashboard = {
  uid: 'preflight-decisions',
  title: 'Preflight: decisions and drift',
  rows: [
    {
      title: 'Decisions',
      panels: [
        {
          title: 'Calls by decision',
          description: 'The decision that holds for each judged call.',
          unit: 'reqps',
          queries: one('{{decision}} {{mode}}', rate('preflight_call_decisions_total', 'decision, mode', ROUTE)),
        },
        {
          title: 'Decisions by action',
          description: 'New decisions. A decision serves all calls of its scope.',
          unit: 'reqps',
          queries: one('{{execution_action}}', rate('preflight_decisions_total', 'execution_action', ROUTE)),
        },
        {
          title: 'Reasons',
          description: 'First reason of decisions other than ALLOW.',
          unit: 'reqps',
          queries: one('{{decision}} {{reason}}', rate('preflight_decision_reasons_total', 'decision, reason')),
        },
        {
          title: 'Findings',
          description: 'Findings in decisions, by level.',
          unit: 'reqps',
          queries: one('{{level}}', rate('preflight_findings_total', 'level')),
        },
        {
          title: 'If everything were enforced',
          description: 'Decisions of packs that observe.',
          unit: 'reqps',
          queries: one('{{would}}', rate('preflight_observed_decisions_total', 'would', ROUTE)),
        },
        {
          title: 'Receipts presented',
          description: 'Receipts that came with calls, by result.',
          unit: 'reqps',
          queries: one('{{result}}', rate('preflight_receipts_presented_total', 'result', ROUTE)),
        },
        {
          title: 'Approvals',
          description: 'Requests opened, joined, granted, denied and used.',
          unit: 'reqps',
          queries: one('{{event}}', rate('preflight_approvals_total', 'event')),
        },
        {
          title: 'Waiting time of approvals',
          description: 'From the opening of a request to its decision.',
          unit: 's',
          queries: quantiles('preflight_approval_wait_seconds'),
        },
        {
          title: 'Other proxies and the API server',
          description: 'Answers to ext_authz checks and admission reviews.',
          unit: 'reqps',
          queries: [
            {
              expr: rate('preflight_authz_checks_total', 'transport, result'),
              legend: 'ext_authz {{transport}} {{result}}',
            },
            { expr: rate('preflight_admission_reviews_total', 'webhook, result'), legend: '{{webhook}} {{result}}' },
          ],
        },
      ],
    },
    {
      title: 'Contracts',
      panels: [
        {
          title: 'Candidates',
          description: '1: the upstream offers another contract than the baseline.',
          unit: 'short',
          queries: [
            {
              expr: `max by (route) (preflight_baseline_candidate_pending{${ROUTE}}) or vector(0)`,
              legend: '{{route}}',
            },
            { expr: rate('preflight_baseline_candidates_total', 'route', ROUTE), legend: '{{route}} new' },
          ],
        },
        {
          title: 'Age of baselines',
          description: 'Since the baseline of a route was set or confirmed.',
          unit: 's',
          queries: one(
            '{{route}}',
            `time() - max by (route) (preflight_baseline_set_timestamp_seconds{${ROUTE}} > 0) or vector(0)`,
          ),
        },
        {
          title: 'Readings of offered contracts',
          description: 'unchanged, changed or failed.',
          unit: 'reqps',
          queries: one('{{result}}', rate('preflight_contract_refreshes_total', 'result', ROUTE)),
        },
        {
          title: 'Messages against the contract',
          description: 'Requests and answers of routes that validate.',
          unit: 'reqps',
          queries: one('{{side}} {{result}}', rate('preflight_contract_checks_total', 'side, result', ROUTE)),
        },
        {
          title: 'Written objects',
          description: 'Kubernetes objects whose new state was judged beforehand.',
          unit: 'reqps',
          queries: one('{{result}}', rate('preflight_written_objects_total', 'result', ROUTE)),
        },
      ],
    },
  ],
}

const LATENCY: Dashboard = {
  uid: 'preflight-latency',
  title: 'Preflight: call latency',
  rows: [
    {
      title: 'Where the time goes',
      panels: [
        {
          title: 'Whole call, by route (p99)',
          description: 'Streams and waiting for approvals count in full.',
          unit: 's',
          queries: one('{{route}}', quantile(0.99, 'preflight_call_seconds', 'route', ROUTE)),
        },
        {
          title: 'Stages (p99)',
          description: 'Time in each stage of docs/architecture.md.',
          unit: 's',
          queries: one('{{stage}}', quantile(0.99, 'preflight_call_stage_seconds', 'stage')),
        },
        {
          title: 'Stages (mean)',
          description: 'The sum is the mean time of a call.',
          unit: 's',
          queries: one(
            '{{stage}}',
            `sum by (stage) (rate(preflight_call_stage_seconds_sum{${POD}}[$__rate_interval])) / sum by (stage) (rate(preflight_call_stage_seconds_count{${POD}}[$__rate_interval]) > 0) or vector(0)`,
          ),
        },
        {
          title: 'Upstream, until the head of its answer',
          description: 'By route, p99.',
          unit: 's',
          queries: one('{{route}}', quantile(0.99, 'preflight_upstream_seconds', 'route', ROUTE)),
        },
        {
          title: 'Time to judge',
          description: 'What judging added to a call.',
          unit: 's',
          queries: quantiles('preflight_call_decision_seconds', ROUTE),
        },
        {
          title: 'Comparisons',
          description: 'Time to compare one artifact, p99, and failures.',
          unit: 's',
          queries: [
            { expr: quantile(0.99, 'preflight_analysis_seconds', 'type'), legend: '{{type}}' },
            { expr: rate('preflight_analysis_failures_total', 'type'), legend: '{{type}} failed per second' },
          ],
        },
        {
          title: 'API',
          description: 'Time to answer, p99, and requests by status.',
          unit: 's',
          queries: [
            { expr: quantile(0.99, 'preflight_api_request_seconds', 'endpoint'), legend: '{{endpoint}}' },
            { expr: rate('preflight_api_requests_total', 'status'), legend: '{{status}} per second' },
          ],
        },
        {
          title: 'Admission reviews (p99)',
          description: 'Time to answer the API server.',
          unit: 's',
          queries: one('{{route}}', quantile(0.99, 'preflight_admission_seconds', 'route')),
        },
        {
          title: 'Caches',
          description: 'Share of look-ups that hit.',
          unit: 'percentunit',
          queries: one(
            '{{cache}}',
            `sum by (cache) (rate(preflight_cache_requests_total{${POD},result="hit"}[$__rate_interval])) / sum by (cache) (rate(preflight_cache_requests_total{${POD}}[$__rate_interval]) > 0) or vector(0)`,
          ),
        },
        {
          title: 'Body bytes',
          description: 'To and from upstreams.',
          unit: 'Bps',
          queries: one('{{direction}}', rate('preflight_call_bytes_total', 'direction', ROUTE)),
        },
      ],
    },
  ],
}

const STORE: Dashboard = {
  uid: 'preflight-store',
  title: 'Preflight: store, ledger and telemetry',
  rows: [
    {
      title: 'Store and ledger',
      panels: [
        {
          title: 'Store takes writes',
          description: '0: the last write failed; for listening: caches hear nothing of other gateways.',
          unit: 'short',
          kind: 'stat',
          queries: [
            { expr: `min(preflight_store_writable{${POD}})`, legend: 'writable' },
            { expr: `min(preflight_store_listening{${POD}})`, legend: 'listening' },
          ],
        },
        {
          title: 'Lag of the store listener',
          description: 'Time since announcements of other gateways were last proven to arrive.',
          unit: 's',
          queries: [{ expr: `max by (pod) (preflight_store_listener_lag_seconds{${POD}})`, legend: '{{pod}}' }],
        },
        {
          title: 'Store operations (p99)',
          description: 'Time until the store answered.',
          unit: 's',
          queries: one('{{operation}}', quantile(0.99, 'preflight_store_seconds', 'operation')),
        },
        {
          title: 'Failures of the store',
          description: 'Operations that failed.',
          unit: 'reqps',
          queries: one('{{operation}}', rate('preflight_store_failures_total', 'operation')),
        },
        {
          title: 'Requests at the hub',
          description: 'From sidecars and verifiers, by role and status code.',
          unit: 'reqps',
          queries: one('{{role}} {{status}}', rate('preflight_hub_requests_total', 'role, status')),
        },
        {
          title: 'Records of calls that the hub refused',
          description: 'They are not in the ledger. The log of the sidecar has the reason (call.record_refused).',
          unit: 'reqps',
          queries: one('{{route}}', rate('preflight_call_records_refused_total', 'route')),
        },
        {
          title: 'Sidecars that receive changes',
          description: 'Streams of changes from the hub. Fewer than sidecars: the others check each reuse.',
          unit: 'short',
          queries: [{ expr: `sum(preflight_hub_streams{${POD}})`, legend: 'streams' }],
        },
        {
          title: 'Growth of the ledger',
          description: 'Entries, rows that were pruned, and bytes.',
          unit: 'short',
          queries: [
            { expr: total('preflight_ledger_entries'), legend: 'entries' },
            { expr: rate('preflight_ledger_pruned_rows_total', ''), legend: 'pruned rows per second' },
            { expr: total('preflight_ledger_bytes'), legend: 'bytes' },
          ],
        },
        {
          title: 'Checkpoints',
          description: 'Age of the newest signed head, and what was written.',
          unit: 'short',
          queries: [
            {
              expr: `time() - min(preflight_ledger_checkpoint_timestamp_seconds{${POD}} > 0) or vector(0)`,
              legend: 'age, seconds',
            },
            { expr: rate('preflight_ledger_checkpoints_total', 'result'), legend: '{{result}} per second' },
            { expr: `preflight_ledger_checkpoint_sequence{${POD}}`, legend: 'sequence {{instance}}' },
            { expr: `preflight_ledger_checkpoint_hash{${POD}}`, legend: 'hash {{instance}}' },
          ],
        },
        {
          title: 'Room on the volume',
          description: 'Without room nothing can be decided.',
          unit: 'bytes',
          queries: one('{{instance}}', `preflight_data_dir_free_bytes{${POD}}`),
        },
      ],
    },
    {
      title: 'Telemetry',
      panels: [
        {
          title: 'Sinks',
          description: '1: the sink takes events.',
          unit: 'short',
          queries: one('{{sink}}', `min by (sink) (preflight_sink_wired{${POD}})`),
        },
        {
          title: 'Backlog',
          description: 'Events that wait for their receiver, and the age of the oldest.',
          unit: 'short',
          queries: [
            { expr: `sum by (sink) (preflight_sink_queue_events{${POD}}) or vector(0)`, legend: '{{sink}}' },
            {
              expr: `max by (sink) (preflight_sink_backlog_age_seconds{${POD}}) or vector(0)`,
              legend: '{{sink}} age, seconds',
            },
          ],
        },
        {
          title: 'Deliveries',
          description: 'Events by what became of them, and failed deliveries.',
          unit: 'reqps',
          queries: [
            { expr: rate('preflight_sink_events_total', 'sink, result'), legend: '{{sink}} {{result}}' },
            { expr: rate('preflight_sink_delivery_failures_total', 'sink'), legend: '{{sink}} failed deliveries' },
          ],
        },
        {
          title: 'Decision log',
          description: 'Entries written, lost and dropped.',
          unit: 'reqps',
          queries: one('{{result}}', rate('preflight_decision_log_entries_total', 'result')),
        },
        {
          title: 'Monitoring windows',
          description: 'Open ones, closed ones by outcome, and refusals.',
          unit: 'short',
          queries: [
            { expr: total('preflight_monitoring_windows_open'), legend: 'open' },
            { expr: rate('preflight_monitoring_windows_closed_total', 'outcome'), legend: '{{outcome}} per second' },
            { expr: rate('preflight_monitoring_refusals_total', ''), legend: 'refusals per second' },
          ],
        },
        {
          title: 'OTLP exports',
          description: 'Spans and metrics.',
          unit: 'reqps',
          queries: one('{{signal}} {{result}}', rate('preflight_otlp_exports_total', 'signal, result')),
        },
        {
          title: 'Metrics over their limit of series',
          description: 'Counts that went to the series "overflow".',
          unit: 'reqps',
          queries: one('{{metric}}', rate('preflight_metric_overflows_total', 'metric')),
        },
      ],
    },
  ],
}

const FLEET: Dashboard = {
  uid: 'preflight-fleet',
  title: 'Preflight: fleet',
  rows: [
    {
      title: 'Versions and settings',
      panels: [
        {
          title: 'Versions',
          description: 'Gateways by version and Node.js.',
          unit: 'short',
          kind: 'table',
          queries: one('{{version}}', `count by (version, node) (preflight_build_info{${POD}})`),
        },
        {
          title: 'Policies in force',
          description: 'Gateways by policy. More than one hash: a reload is under way, or was refused.',
          unit: 'short',
          kind: 'table',
          queries: one('{{name}} {{hash}}', `count by (name, hash) (preflight_policy_info{${POD}})`),
        },
        {
          title: 'Configurations in force',
          description: 'Gateways by configuration.',
          unit: 'short',
          kind: 'table',
          queries: one('{{hash}}', `count by (hash) (preflight_config_info{${POD}})`),
        },
        {
          title: 'Tiers',
          description: 'Gateways by tier.',
          unit: 'short',
          kind: 'table',
          queries: one('{{tier}}', `sum by (tier) (preflight_tier_info{${POD}})`),
        },
        {
          title: 'Reloads',
          description: 'Reloads, those that enforce less, mistakes on disk, and the age of the last good read.',
          unit: 'short',
          queries: [
            { expr: rate('preflight_reloads_total', 'what, result'), legend: '{{what}} {{result}}' },
            { expr: rate('preflight_reloads_weaker_total', 'result'), legend: 'weaker {{result}}' },
            { expr: total('preflight_settings_mistakes'), legend: 'mistakes' },
            { expr: `max(preflight_settings_generation{${POD}})`, legend: 'generation' },
            { expr: `time() - min(preflight_settings_success_timestamp_seconds{${POD}})`, legend: 'age, seconds' },
          ],
        },
        {
          title: 'Up for',
          description: 'Since the start of each process.',
          unit: 's',
          queries: one('{{instance}}', `time() - process_start_time_seconds{${POD}}`),
        },
      ],
    },
    {
      title: 'Processes',
      panels: [
        {
          title: 'Load of the main thread, CPU',
          description: 'Near 1, calls wait for each other.',
          unit: 'short',
          queries: [
            {
              expr: `rate(preflight_event_loop_busy_seconds_total{${POD}}[$__rate_interval])`,
              legend: 'main thread {{instance}}',
            },
            { expr: `rate(process_cpu_seconds_total{${POD}}[$__rate_interval])`, legend: 'CPU {{instance}}' },
          ],
        },
        {
          title: 'Delay of the event loop',
          description: 'Since the scrape before.',
          unit: 's',
          queries: one('{{instance}} {{quantile}}', `preflight_event_loop_delay_seconds{${POD}}`),
        },
        {
          title: 'Memory',
          description: 'Of the process, and of the budget for bodies and analyses.',
          unit: 'bytes',
          queries: [
            { expr: `process_resident_memory_bytes{${POD}}`, legend: 'resident {{instance}}' },
            { expr: `preflight_memory_held_bytes{${POD}}`, legend: 'held {{instance}}' },
            { expr: `preflight_memory_budget_bytes{${POD}}`, legend: 'budget {{instance}}' },
          ],
        },
        {
          title: 'Waiting for memory',
          description: 'Bodies and analyses.',
          unit: 'short',
          queries: one('{{instance}}', `preflight_memory_waiting{${POD}}`),
        },
      ],
    },
    {
      title: 'Connections',
      panels: [
        {
          title: 'Connections',
          description: 'CONNECT requests and redirected connections.',
          unit: 'reqps',
          queries: one('{{traffic_path}} {{outcome}}', rate('preflight_connections_total', 'traffic_path, outcome')),
        },
        {
          title: 'Refused destinations',
          description: 'By the egress policy.',
          unit: 'reqps',
          queries: one('{{traffic_path}} {{reason}}', rate('preflight_egress_denials_total', 'traffic_path, reason')),
        },
        {
          title: 'TLS handshakes',
          description: 'On intercepted connections and on the own listeners.',
          unit: 'reqps',
          queries: [
            { expr: rate('preflight_tls_handshakes_total', 'result'), legend: 'agents {{result}}' },
            {
              expr: rate('preflight_listener_tls_handshakes_total', 'listener, result'),
              legend: '{{listener}} {{result}}',
            },
          ],
        },
        {
          title: 'Certificates end in',
          description: 'Of the own listeners, and the authority of intercepted connections.',
          unit: 's',
          queries: [
            {
              expr: `min by (listener) (preflight_listener_certificate_end_seconds{${POD}} > 0) - time() or vector(0)`,
              legend: '{{listener}}',
            },
            {
              expr: `min(preflight_interception_ca_end_seconds{${POD}} > 0) - time() or vector(0)`,
              legend: 'interception authority',
            },
          ],
        },
        {
          title: 'Tunnel bytes',
          description: 'Counted when a tunnel closes.',
          unit: 'Bps',
          queries: one('{{direction}}', rate('preflight_tunnel_bytes_total', 'direction')),
        },
      ],
    },
  ],
}

export const DASHBOARDS: readonly Dashboard[] = [OVERVIEW, DECISIONS, LATENCY, STORE, FLEET]

const DATASOURCE = { type: 'prometheus', uid: '${datasource}' }

/** Labels that the reader of a dashboard chooses by. `.*` selects series without the label too. */
const VARIABLES = [
  { name: 'job', label: 'Job', query: 'label_values(preflight_build_info, job)' },
  { name: 'namespace', label: 'Namespace', query: 'label_values(preflight_build_info{job=~"$job"}, namespace)' },
  { name: 'pod', label: 'Pod', query: 'label_values(preflight_build_info{job=~"$job",namespace=~"$namespace"}, pod)' },
  { name: 'route', label: 'Route', query: `label_values(preflight_calls_total{${POD}}, route)` },
]

const WIDTH = 8
const HEIGHT = 8
const COLUMNS = 3

export function dashboardFiles(): readonly GeneratedFile[] {
  return DASHBOARDS.map((dashboard) => ({
    path: `charts/preflight-gateway/dashboards/${dashboard.uid}.json`,
    content: `${JSON.stringify(grafanaOf(dashboard), null, 2)}\n`,
  }))
}

function grafanaOf({ uid, title, rows }: Dashboard): object {
  const panels: object[] = []
  let y = 0
  let id = 0
  for (const row of rows) {
    panels.push({
      id: (id += 1),
      type: 'row',
      title: row.title,
      gridPos: { x: 0, y, w: 24, h: 1 },
      collapsed: false,
      panels: [],
    })
    y += 1
    row.panels.forEach((panel, index) => {
      const x = (index % COLUMNS) * WIDTH
      panels.push(panelOf(panel, (id += 1), { x, y: y + Math.floor(index / COLUMNS) * HEIGHT, w: WIDTH, h: HEIGHT }))
    })
    y += Math.ceil(row.panels.length / COLUMNS) * HEIGHT
  }
  return {
    title,
    uid,
    tags: ['preflight'],
    schemaVersion: 39,
    editable: true,
    time: { from: 'now-3h', to: 'now' },
    refresh: '30s',
    timezone: 'browser',
    annotations: { list: [annotation()] },
    links: [
      {
        type: 'dashboards',
        tags: ['preflight'],
        asDropdown: true,
        title: 'Preflight',
        includeVars: true,
        keepTime: true,
      },
    ],
    templating: {
      list: [
        { name: 'datasource', label: 'Prometheus', type: 'datasource', query: 'prometheus', current: {} },
        ...VARIABLES.map(variableOf),
      ],
    },
    panels,
  }
}

function annotation(): object {
  return {
    name: 'Settings taken over',
    enable: true,
    datasource: DATASOURCE,
    expr: `changes(preflight_settings_generation{${POD}}[1m]) > 0`,
    iconColor: 'blue',
    titleFormat: 'settings taken over',
  }
}

function variableOf({ name, label, query }: (typeof VARIABLES)[number]): object {
  return {
    name,
    label,
    type: 'query',
    datasource: DATASOURCE,
    query: { query, refId: name },
    refresh: 2,
    includeAll: true,
    multi: true,
    allValue: '.*',
    current: { text: ['All'], value: ['$__all'] },
  }
}

function panelOf(
  { title, description, unit, kind = 'timeseries', queries }: Panel,
  id: number,
  gridPos: object,
): object {
  const custom = { fillOpacity: 10, showPoints: 'never' }
  return {
    id,
    type: kind,
    title,
    description,
    datasource: DATASOURCE,
    gridPos,
    fieldConfig: { defaults: { unit, min: 0, ...(kind === 'timeseries' && { custom }) }, overrides: [] },
    options:
      kind === 'timeseries' ? { legend: { displayMode: 'list', placement: 'bottom' }, tooltip: { mode: 'multi' } } : {},
    targets: queries.map(({ expr, legend }, index) => ({
      refId: String.fromCodePoint(65 + index),
      datasource: DATASOURCE,
      expr,
      legendFormat: legend,
      ...(kind === 'table' && { format: 'table', instant: true }),
    })),
  }
}

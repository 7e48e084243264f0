/**
 * The whole configuration, one TypeBox schema: the TypeScript type, the JSON Schema, docs/config.md, the chart's values
 * and the names of the environment variables all come from here. Unknown members are mistakes.
 */
import type { Static } from 'typebox'
import { Type } from '../../engine/base.ts'
import { Consumers } from './consumers.ts'
import { EgressConfig, ProxyAuthConfig, TlsConfig } from './egress.ts'
import { integer, seconds, strict } from '../settings/fields.ts'
import { RouteConfig } from './route.ts'
import { ScmConfig } from './scm.ts'
import { SinkConfig } from './sinks.ts'

const LISTEN = '^(\\[[0-9a-fA-F:.]+\\]|[^:\\s]+):[0-9]{1,5}$'

const listen = (address: string, what: string) =>
  Type.String({
    default: address,
    pattern: LISTEN,
    description: `Address of the ${what} listener, HOST:PORT; port 0 picks a free one.`,
  })

export const Config = Type.Object(
  {
    data_dir: Type.String({
      default: '.preflight',
      description: 'Directory of the ledger, the receipt key and the event spool; relative to the working directory.',
    }),
    listen: strict(
      {
        proxy: listen('127.0.0.1:15080', 'proxy'),
        api: listen('127.0.0.1:15081', 'API (with /mcp)'),
        admin: listen('127.0.0.1:15090', 'admin (/livez, /readyz, /metrics)'),
        ext_authz: Type.Optional(
          Type.String({
            pattern: LISTEN,
            description:
              'Address at which other proxies ask over gRPC (envoy.service.auth.v3.Authorization), HOST:PORT; off unless named. Over HTTP they ask the API listener, under /authz/.',
          }),
        ),
        transparent: Type.Optional(
          Type.String({
            pattern: LISTEN,
            description:
              'Address that connections are redirected to (iptables REDIRECT), HOST:PORT; off unless named. Destinations are told by TLS server name or Host header.',
          }),
        ),
      },
      'Listeners.',
    ),
    public_url: Type.Optional(
      Type.String({
        pattern: '^https?://',
        description: 'Address under which others reach the API listener: report_url and issuer of receipts.',
      }),
    ),
    tier: Type.Union([Type.Literal('sidecar'), Type.Literal('gateway'), Type.Literal('verifier')], {
      default: 'sidecar',
      description: 'What this deployment guarantees; stated in every control_envelope.enforcement and in the metrics.',
    }),
    policy: Type.String({
      default: 'default',
      minLength: 1,
      description: 'Name of a shipped policy pack, or path of a pack.yaml.',
    }),
    policy_pin: Type.Optional(
      Type.String({
        pattern: '^sha256:[0-9a-f]{64}$',
        description: 'policy_hash expected; another one in force is a POLICY_PIN_DRIFT warning.',
      }),
    ),
    store: strict(
      {
        url: Type.Optional(
          Type.String({ description: 'Default: SQLite in data_dir. file:PATH names another SQLite file.' }),
        ),
      },
      'Where decisions are kept.',
    ),
    ledger: strict(
      {
        calls: Type.Union([Type.Literal('batched'), Type.Literal('durable')], {
          default: 'batched',
          description:
            'Records of single calls: written in batches, or durable before each call is forwarded. Decisions are always durable first.',
        }),
        flush: seconds(0.05, 'Longest wait before a batch of call records is written', 0.001),
        checkpoint: seconds(
          60,
          'The head of the ledger is signed this often, when it has moved: into the ledger, a file in data_dir, the log and a metric',
          1,
        ),
        inputs: integer(
          256 * 1024 * 1024,
          'Bytes of contracts (compressed, each once) kept so that decisions can be replayed under another policy; the least recently used go first. 0 keeps none',
          0,
        ),
      },
      'The ledger.',
    ),
    log: strict(
      {
        level: Type.Union(
          (['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const).map((level) => Type.Literal(level)),
          { default: 'info', description: 'Least severe level that is written.' },
        ),
      },
      'Logs, JSON lines on stderr.',
    ),
    limits: strict(
      {
        artifacts: integer(50, 'Artifacts in one change set'),
        request_body: integer(64 * 1024 * 1024, 'Body of an API request, bytes'),
        artifact_side: integer(32 * 1024 * 1024, 'One side of an artifact, UTF-16 code units'),
        depth: integer(128, 'Nesting of a contract document'),
        aliases: integer(1000, 'YAML aliases in a document'),
        expansion: integer(20, 'Growth of a document by its aliases'),
        proxied_body: integer(8 * 1024 * 1024, 'Body of an intercepted call that must be read, bytes'),
        head_timeout: seconds(30, 'The head of a request arrives within this, on every listener', 0.05),
        body_timeout: seconds(300, 'A body that must be read arrives whole within this, on every listener', 0.05),
        body_rate: integer(
          1024,
          'Least average rate of a body that must be read, bytes a second; counts after the first 10 seconds',
          0,
        ),
        analysis: seconds(60, 'Comparing one artifact'),
        held_calls: integer(100, 'Calls held for an approval at the same time; further ones are answered at once', 0),
        connections: integer(
          2000,
          'Tunnels and connections whose TLS does not stand yet, open at once; past that OVERLOADED',
        ),
        queue: integer(64, 'Comparisons waiting for a worker; past that OVERLOADED'),
      },
      'Limits.',
    ),
    analysis: strict(
      {
        workers: integer(2, 'Worker threads that parse and compare'),
        inline_below: integer(
          64 * 1024,
          'Artifacts smaller than this (both sides, code units) are compared on the main thread',
          0,
        ),
        cache: integer(256, 'Comparisons kept by content digest', 0),
      },
      'Where contracts are compared.',
    ),
    diff: strict(
      {
        allow_urls: Type.Array(Type.String({ minLength: 1 }), {
          default: [],
          description: 'Hosts that /api/diff may fetch documents from.',
        }),
        repository: Type.Optional(
          Type.String({ description: 'Git working directory or bare repository for <ref>:<path>.' }),
        ),
        findings: integer(5000, 'Findings in one answer; the rest is counted'),
      },
      'The diff endpoint.',
    ),
    signup: strict(
      { enabled: Type.Optional(Type.Boolean({ description: 'Default: only when the API listens on loopback.' })) },
      'POST /api/signup.',
    ),
    rate: strict({ per_minute: integer(600, 'Counted API requests of one key in a minute') }, 'Rate limit of the API.'),
    plans: Type.Record(
      Type.String({ pattern: '^[a-z][a-z0-9_-]{0,31}$' }),
      Type.Object(
        { monthly: Type.Union([Type.Integer({ minimum: 0 }), Type.Null()]) },
        { additionalProperties: false },
      ),
      {
        default: { free: { monthly: 50 }, pro: { monthly: 1000 }, enterprise: { monthly: null } },
        description: 'Requests a month by plan; null is unlimited.',
      },
    ),
    monitoring: strict(
      {
        sinks: Type.Array(SinkConfig, {
          default: [{ type: 'log' }],
          description: 'Where execution telemetry goes. None wired: CONTINUE_WITH_MONITORING does not proceed.',
        }),
        window: seconds(900, 'A window nobody closed is closed as UNKNOWN after this'),
        spool: integer(10_000, 'Events kept on disk while no sink takes them; past that the sinks count as unwired'),
      },
      'Monitoring of calls let through under watch.',
    ),
    signer: strict(
      {
        url: Type.Optional(
          Type.String({
            pattern: '^(https?://|unix:/)',
            description:
              'External signer of receipts: an address that is POSTed to, or unix:PATH of a socket that is POSTed to at /sign. Default: a key file in data_dir.',
          }),
        ),
        public_key: Type.Optional(
          Type.String({
            pattern: '^[A-Za-z0-9_-]{43}$',
            description:
              'Its Ed25519 public key, the member x of the JWK; required with url. Every signature is checked with it.',
          }),
        ),
        header: Type.Optional(
          Type.String({ description: 'One more request header, "Name: value", e.g. for authentication.' }),
        ),
        timeout: seconds(2, 'One signature', 0.01),
      },
      'Who signs receipts.',
    ),
    approvals: strict(
      {
        four_eyes: Type.Boolean({
          default: true,
          description: 'A key that asked for an approval may not grant or deny it.',
        }),
        validity: seconds(14_400, 'How long a grant holds at the most, and unless the approver says shorter'),
        pending: seconds(86_400, 'A request that nobody settled within this is expired; a denial holds as long'),
      },
      'Approvals of what the policy holds up with REQUIRE_APPROVAL.',
    ),
    break_glass: strict(
      {
        roles: Type.Array(Type.Union([Type.Literal('approver'), Type.Literal('admin')]), {
          default: ['admin'],
          description: 'Roles whose keys may open and close exceptions.',
        }),
        maximum: seconds(3600, 'Longest that an exception lasts'),
      },
      'Exceptions to enforcement on a route, for emergencies.',
    ),
    consumers: Consumers,
    egress: EgressConfig,
    proxy_auth: ProxyAuthConfig,
    tls: TlsConfig,
    transparent: strict(
      {
        http_port: integer(80, 'Port that redirected plain HTTP was on its way to, where its Host header names none'),
        https_port: integer(443, 'Port that redirected TLS was on its way to'),
      },
      'Connections at listen.transparent.',
    ),
    observed_consumers: strict(
      {
        window: seconds(30 * 86_400, 'A consumer that called within this counts; 0 observes nobody', 0),
        limit: integer(1000, 'Consumers of one tool or operation that are told apart; the rest counts as one'),
      },
      'Who calls through the proxy, by the audience of the key, a keyed hash of the credential or the product of the user agent: blast_radius.consumers_observed.',
    ),
    scm: ScmConfig,
    consumers_file: Type.Optional(
      Type.String({
        minLength: 1,
        description:
          'Further consumers, in a YAML or JSON file with the one member `consumers`; relative to this file, and read again when it changes.',
      }),
    ),
    reload: Type.Union([Type.Literal('apply'), Type.Literal('refuse_weaker')], {
      default: 'apply',
      description:
        'A changed configuration or policy that enforces less (a route gone or observing, authentication off, wider egress, a weaker policy; of what cannot be ranked, such as the rules of a map or a condition of a pack, every change): apply takes it over with a warning, refuse_weaker keeps the settings in force until a restart.',
    }),
    shutdown: strict({ drain: seconds(20, 'Calls under way may finish within this', 0) }, 'SIGTERM.'),
    routes: Type.Array(RouteConfig, {
      default: [],
      description: 'Routes; a named host wins over none, an exact one over *.SUFFIX, then the longest prefix.',
    }),
  },
  { additionalProperties: false, $id: 'config', title: 'Preflight Gateway configuration' },
)

/** The configuration after defaults: frozen, handed down in slices. */
export type Config = Static<typeof Config>

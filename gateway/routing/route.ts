/**
 * The settings of every route, whatever its protocol: which calls it takes, the upstream, what they are judged by, and
 * how the verdict is enforced. Part of the configuration schema.
 */
import type { Static, TObject } from 'typebox'
import { Type } from '../../engine/base.ts'
import { LONGEST_PERIOD, period, seconds, strict } from '../settings/fields.ts'

const ProtocolName = Type.Union(
  [
    Type.Literal('mcp'),
    Type.Literal('http'),
    Type.Literal('grpc'),
    Type.Literal('graphql'),
    Type.Literal('kubernetes'),
    Type.Literal('argocd'),
    Type.Literal('mapped'),
    Type.Literal('github'),
    Type.Literal('gitlab'),
    Type.Literal('bitbucket'),
    Type.Literal('npm'),
    Type.Literal('llm'),
    Type.Literal('mcp_registry'),
  ],
  {
    description:
      '`mcp`: Streamable HTTP, judged per tool. `http`: judged against the OpenAPI contract of the route. `grpc`: gRPC, gRPC-Web and Connect, judged against the protobuf contract. `graphql`: judged against the schema, per operation. `kubernetes`: writes to the Kubernetes API. `argocd`: syncs and changes of Argo CD applications. `mapped`: any requests, by rules. `github`, `gitlab`, `bitbucket`: merges, deployments and releases. `npm`: publications to a registry. `llm`: calls of a model provider, judged by the tools in them. `mcp_registry`: publications of MCP servers.',
  },
)

/** Each has its folder in `gateway/protocols/`. */
export type Protocol = Static<typeof ProtocolName>

export const ContractSource = Type.Union([
  Type.Object(
    {
      file: Type.String({
        minLength: 1,
        description:
          'Path, relative to the configuration file; files that its $refs name are part of it. For a grpc route also a folder of .proto files.',
      }),
      root: Type.Optional(
        Type.String({
          minLength: 1,
          description:
            'Folder, relative to the configuration file, whose files $refs may name; by default the folder of the file.',
        }),
      ),
    },
    { additionalProperties: false },
  ),
  Type.Object(
    { url: Type.String({ pattern: '^https?://', description: 'Address that returns the document.' }) },
    { additionalProperties: false },
  ),
  Type.Object(
    {
      git: Type.String({
        pattern: '^[^\\s:{}\\[\\]"\']+:[^\\s:].*$',
        description:
          'REF:PATH, a file at a branch, tag or commit of the repository diff.repository. Files that its $refs name are read from the same commit. For a grpc route also a folder of .proto files.',
      }),
    },
    { additionalProperties: false },
  ),
])
export type ContractSource = Static<typeof ContractSource>

/** Which calls, and how they are decided. */
export const ROUTE_START = {
  name: Type.String({
    pattern: '^[a-z0-9][a-z0-9-]{0,62}$',
    description: 'Name of the route: metrics, ledger and receipts (target_id) carry it.',
  }),
  match: Type.Object(
    {
      host: Type.Optional(
        Type.String({
          description: 'Host to match, without port, or *.SUFFIX for all names below one; any when absent.',
        }),
      ),
      path: Type.String({
        default: '/',
        pattern: '^/',
        description: 'Path prefix, matched byte for byte on segment borders; the path of the upstream replaces it.',
      }),
    },
    { additionalProperties: false },
  ),
  upstream: Type.Optional(
    Type.String({
      pattern: '^https?://',
      description:
        'Base URL that calls are forwarded to. Without it the route takes calls by forward proxy, CONNECT or redirect, which are forwarded to the host that they name (match.host).',
    }),
  ),
  protocol: ProtocolName,
  contract: Type.Optional(
    Type.Object(
      {
        baseline: Type.Optional(
          Type.Union(ContractSource.anyOf, {
            description: 'What calls are judged against; without it the first contract seen is pinned (first_use).',
          }),
        ),
        current: Type.Optional(
          Type.Union(ContractSource.anyOf, {
            description:
              'What the upstream offers now (required for http and grpc, and for graphql unless graphql.introspect is on; an mcp route observes tools/list).',
          }),
        ),
        origins: Type.Optional(
          Type.Array(Type.String({ pattern: '^https?://[^/?#@\\s]+/?$' }), {
            maxItems: 100,
            description:
              'Further origins (https://HOST, https://HOST:PORT) of files that a contract at a url refers to. Its own origin is always allowed; redirects are not followed, and cloud metadata addresses are refused.',
          }),
        ),
        refresh: period(
          60,
          'Maximum age of the contract offered now (`current`, or the tools of an MCP server). An older one is read again before a call is judged. 0: before every call',
          0,
        ),
        listing_headers: Type.Optional(
          Type.Array(Type.String({ pattern: "^[!#$%&'*+.^_`|~0-9A-Za-z-]+$" }), {
            description:
              'protocol mcp, and graphql with graphql.introspect: the request headers on which the listing of the upstream depends, in addition to credentials and X-MCP-*. Without it every header counts that is not specific to one message or trace. A header with another value in each call then costs a listing for each call.',
          }),
        ),
        max_age: Type.Optional(
          Type.Number({
            minimum: 1,
            maximum: LONGEST_PERIOD,
            description:
              'Maximum age of the baseline (seconds). With a baseline that was set or confirmed longer ago no call is judged, and calls are not forwarded. A named source is then read again; otherwise a person confirms it by promoting its digest.',
          }),
        ),
        watch: Type.Optional(
          Type.Number({
            minimum: 1,
            maximum: LONGEST_PERIOD,
            description:
              'Read `current` this often (seconds) without waiting for a call, so that a change is reported.',
          }),
        ),
        auto_promote: Type.Union([Type.Literal('none'), Type.Literal('info')], {
          default: 'none',
          description: 'info: a changed contract with info findings only becomes the baseline automatically.',
        }),
      },
      {
        additionalProperties: false,
        description:
          'Where the contract comes from. baseline: what calls are judged against; without it the first contract seen is pinned (first_use). current: what the upstream offers now. It is required for http and grpc, and for graphql unless graphql.introspect is on; mcp observes tools/list.',
      },
    ),
  ),
  operation: Type.String({
    default: 'tool_call',
    minLength: 1,
    description: 'Operation that the receipts of this route authorize.',
  }),
  environment: Type.Optional(Type.String({ minLength: 1, description: 'Environment bound into the receipts.' })),
  mode: Type.Union([Type.Literal('enforce'), Type.Literal('observe')], {
    default: 'enforce',
    description: 'observe: decisions are made, recorded and counted, and no call is held or stopped.',
  }),
  failure: Type.Union([Type.Literal('closed'), Type.Literal('open')], {
    default: 'closed',
    description: 'open: a call that could not be judged is forwarded, counted and logged.',
  }),
  tenants: Type.Array(Type.String({ minLength: 1, maxLength: 200 }), {
    default: ['local'],
    minItems: 1,
    uniqueItems: true,
    description:
      'Tenants that the route serves: receipts of other tenants authorize nothing here, and a key counts for receipts of its own tenant only. Calls without a key belong to the tenant local, or to the first one named.',
  }),
  receipts: strict(
    {
      attach: Type.Boolean({
        default: true,
        description: 'Send Preflight-Receipt upstream.',
      }),
      envelope: Type.Boolean({
        default: false,
        description:
          'Send the decision envelope upstream too, as Preflight-Decision (base64url), when it fits into 8 KiB. Many servers accept 8 KiB of headers in all; a destination can read the envelope by decision id instead.',
      }),
      accept: Type.Boolean({
        default: false,
        description:
          'If a receipt comes with a call (Preflight-Receipt) and authorizes exactly this operation on this content, no new decision is made.',
      }),
      require: Type.Boolean({
        default: false,
        description: 'A call without such a receipt is stopped, whatever the decision would be.',
      }),
      consume: Type.Boolean({
        default: false,
        description: 'A receipt serves one call: it is consumed, durably, before the call is forwarded.',
      }),
    },
    'Receipts on this route. A call without a contract to compare always needs a receipt.',
  ),
  hold: seconds(
    0,
    'Time that a call waits for a required approval. It is forwarded when approved, and answered 428 otherwise. 0: answered immediately',
    0,
  ),
}

/** What is checked against the pinned contract. */
export const ROUTE_VALIDATION = {
  validate: Type.Union([Type.Literal('off'), Type.Literal('observe'), Type.Literal('enforce')], {
    default: 'off',
    description:
      'Protocol `mcp` (observe only): check structured tool results against the pinned outputSchema. A result of another shape is counted and logged (TOOL_RESULT_SHAPE_DRIFT). Protocol `http`: check arguments (path, query, headers, cookies, JSON bodies) and answers against the pinned contract. Protocol `graphql`: check documents and variables against the pinned schema. Value `observe`: violations are counted and logged. Value `enforce`: a call that violates the contract is refused with 422; answers are never withheld.',
  }),
}

/** How calls are sent. */
export const ROUTE_CONNECTION = {
  upgrade: Type.Union([Type.Literal('judged'), Type.Literal('allow')], {
    default: 'judged',
    description:
      'Requests to switch to another protocol (WebSocket, SPDY); traffic after the switch is not read. Value `judged`: allowed only where the request itself determines the decision (connections into pods by kubernetes.streams, rules of a map). Value `allow`: allowed if the request itself may be forwarded.',
  }),
  upstream_protocol: Type.Union([Type.Literal('http1'), Type.Literal('http2')], {
    default: 'http1',
    description:
      'Version of HTTP to the upstream. http2: negotiated inside TLS (ALPN), assumed on http://; the upstream must support it. Switches to another protocol always use HTTP/1.1, and gRPC always uses HTTP/2.',
  }),
  timeout: strict(
    {
      connect: seconds(10, 'Time to connect to the upstream'),
      headers: seconds(60, 'Time to wait for the head of the answer'),
      idle: seconds(0, 'Maximum silence within the body of an answer. 0: no limit, as event streams need', 0),
    },
    'Timeouts to the upstream; the body of an answer has no total limit.',
  ),
}

/** How the upstream is authenticated. */
export const ROUTE_TLS = {
  tls: strict(
    {
      upstream_ca: Type.Optional(
        Type.String({
          minLength: 1,
          description:
            'PEM file of the certificate authorities trusted for the upstream, instead of the public ones; relative to the configuration file.',
        }),
      ),
    },
    'TLS to the upstream.',
  ),
}

type RouteFields = typeof ROUTE_START & typeof ROUTE_VALIDATION & typeof ROUTE_CONNECTION & typeof ROUTE_TLS

/** A route as every part of the gateway can read it; only its protocol reads its own sections. */
export type Route = Static<TObject<RouteFields>>

/** What every route says, whatever its protocol: which calls it takes, where they go, what they are judged by and what is done with the verdict. Part of the schema of the configuration. */
import type { Static, TObject } from 'typebox'
import { Type } from '../../engine/base.ts'
import { seconds, strict } from '../settings/fields.ts'

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
      'mcp: Streamable HTTP, judged per tool. http: judged against the OpenAPI contract of the route. grpc: gRPC, gRPC-Web and Connect, judged against the protobuf contract. graphql: judged against the schema, per operation. kubernetes: writes to the Kubernetes API. argocd: syncs and changes of Argo CD applications. mapped: any requests, by rules. github, gitlab, bitbucket: merges, deployments and releases. npm: publications to a registry. llm: calls of a model provider, judged by the tools in them. mcp_registry: publications of MCP servers.',
  },
)

/** One folder of `gateway/protocols/` each. */
export type Protocol = Static<typeof ProtocolName>

export const ContractSource = Type.Union([
  Type.Object(
    {
      file: Type.String({
        minLength: 1,
        description:
          'Path, relative to the configuration file; files that its $refs name are part of it. Of a grpc route also a folder of .proto files.',
      }),
      root: Type.Optional(
        Type.String({
          minLength: 1,
          description:
            'Folder, relative to the configuration file, that $refs may lead into; that of the file unless told.',
        }),
      ),
    },
    { additionalProperties: false },
  ),
  Type.Object(
    { url: Type.String({ pattern: '^https?://', description: 'Address that answers the document.' }) },
    { additionalProperties: false },
  ),
  Type.Object(
    {
      git: Type.String({
        pattern: '^[^\\s:{}\\[\\]"\']+:[^\\s:].*$',
        description:
          'REF:PATH, a file at a branch, tag or commit of the repository diff.repository, and the files of the same state that its $refs name; of a grpc route also a folder of .proto files.',
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
        description: 'Path prefix, matched byte for byte on segment borders; the path of the upstream takes its place.',
      }),
    },
    { additionalProperties: false },
  ),
  upstream: Type.Optional(
    Type.String({
      pattern: '^https?://',
      description:
        'Base URL that calls are forwarded to. Without it the route takes calls that come by forward proxy, CONNECT or redirect, and they go to the host that they name (match.host).',
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
              'What the upstream offers now (required for http and grpc, and for graphql unless graphql.introspect says so; an mcp route observes tools/list).',
          }),
        ),
        origins: Type.Optional(
          Type.Array(Type.String({ pattern: '^https?://[^/?#@\\s]+/?$' }), {
            maxItems: 100,
            description:
              'Further origins (https://HOST, https://HOST:PORT) from which files may be fetched that a contract at a url refers to. Its own origin is always allowed; redirects are not followed, and addresses where a cloud hands out credentials are not asked.',
          }),
        ),
        refresh: seconds(
          60,
          'Greatest age of what is known of the contract offered now: `current`, or the tools of an MCP server, is read again before a call is judged by anything older. 0: before every call',
          0,
        ),
        listing_headers: Type.Optional(
          Type.Array(Type.String({ pattern: "^[!#$%&'*+.^_`|~0-9A-Za-z-]+$" }), {
            description:
              'protocol mcp, and graphql with graphql.introspect: the request headers by which the upstream offers other things, beside credentials and X-MCP-*. Without it every header counts that is not of one message or one trace, so a header with another value in each call costs a listing for each call.',
          }),
        ),
        max_age: Type.Optional(
          Type.Number({
            minimum: 1,
            description:
              'Greatest age of the baseline (seconds): one that was set or confirmed longer ago no longer serves to judge by, and calls are not forwarded. A named source is read again then; else a person confirms it by promoting its digest.',
          }),
        ),
        watch: Type.Optional(
          Type.Number({
            minimum: 1,
            description: 'Look at `current` this often (seconds) without waiting for a call, so that a change is told.',
          }),
        ),
        auto_promote: Type.Union([Type.Literal('none'), Type.Literal('info')], {
          default: 'none',
          description: 'info: a changed contract with info findings only becomes the baseline by itself.',
        }),
      },
      {
        additionalProperties: false,
        description:
          'Where the contract comes from. baseline: what calls are judged against; without it the first contract seen is pinned (first_use). current: what the upstream offers now (required for http and grpc, and for graphql unless graphql.introspect says so; mcp observes tools/list).',
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
    description: 'observe: decisions are made, recorded and counted, and nothing is held or stopped.',
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
      'Tenants that the route serves: receipts of other tenants authorize nothing here, and a key stands for receipts of its own tenant only. Calls without a key are of the tenant local, or of the first one named.',
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
          'Send the decision envelope upstream too, as Preflight-Decision (base64url), when it fits into 8 KiB. Many servers take 8 KiB of header in all; a destination can ask for the envelope by decision id instead.',
      }),
      accept: Type.Boolean({
        default: false,
        description:
          'A receipt that comes with a call (Preflight-Receipt) and authorizes exactly this operation on this content stands for it: no new decision is made.',
      }),
      require: Type.Boolean({
        default: false,
        description: 'A call without such a receipt is stopped, whatever would be decided on it here.',
      }),
      consume: Type.Boolean({
        default: false,
        description: 'A receipt serves one call: it is used up, durably, before the call goes on.',
      }),
    },
    'Receipts on this route. What has no contract to compare goes on only with a receipt, whatever is said here.',
  ),
  hold: seconds(
    0,
    'A call that needs an approval waits for it this long, goes on by itself when it is granted, and is answered 428 when not. 0: answered at once',
    0,
  ),
}

/** What is held against the pinned contract. */
export const ROUTE_VALIDATION = {
  validate: Type.Union([Type.Literal('off'), Type.Literal('observe'), Type.Literal('enforce')], {
    default: 'off',
    description:
      'protocol mcp (observe only): hold structured results of tools against the pinned outputSchema; one of another shape is counted and logged (TOOL_RESULT_SHAPE_DRIFT). protocol http: hold arguments (path, query, headers, cookies, JSON bodies) and answers against the pinned contract. protocol graphql: hold documents and variables against the pinned schema. observe: counted and logged. enforce: a call that violates it is refused with 422; answers are never held back.',
  }),
}

/** How calls are sent. */
export const ROUTE_CONNECTION = {
  upgrade: Type.Union([Type.Literal('judged'), Type.Literal('allow')], {
    default: 'judged',
    description:
      'Requests to switch to another protocol (WebSocket, SPDY); what follows the switch is not read. judged: taken only where the request that asks says all that matters (connections into pods as kubernetes.streams says, rules of a map). allow: taken, once that request itself may go on.',
  }),
  upstream_protocol: Type.Union([Type.Literal('http1'), Type.Literal('http2')], {
    default: 'http1',
    description:
      'Version of HTTP towards the upstream. http2: agreed on inside TLS (ALPN), taken for granted on http://; the upstream must speak it. Switches to another protocol go by HTTP/1.1, gRPC by HTTP/2, whatever is said here.',
  }),
  timeout: strict(
    {
      connect: seconds(10, 'Connecting to the upstream'),
      headers: seconds(60, 'Waiting for the head of the answer'),
      idle: seconds(0, 'Longest silence within the body of an answer. 0: none, as event streams need', 0),
    },
    'Timeouts towards the upstream; the body of an answer may take as long as it keeps moving.',
  ),
}

/** Whom the upstream is trusted by. */
export const ROUTE_TLS = {
  tls: strict(
    {
      upstream_ca: Type.Optional(
        Type.String({
          minLength: 1,
          description:
            'PEM file of the authorities that may have signed the certificate of the upstream, instead of the public ones; relative to the configuration file.',
        }),
      ),
    },
    'TLS towards the upstream.',
  ),
}

type RouteFields = typeof ROUTE_START & typeof ROUTE_VALIDATION & typeof ROUTE_CONNECTION & typeof ROUTE_TLS

/** A route as every part of the gateway can read it; its protocol alone reads the sections that are its own. */
export type Route = Static<TObject<RouteFields>>

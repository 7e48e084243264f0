/** Shapes that several routes share, named by their `title`: openapi.json holds each once under components. Answers are open: clients tolerate what they do not know. */
import type { TSchema } from 'typebox'
import type { ArtifactFiles as Files } from '../../../engine/internal.ts'
import { MAX_ARTIFACT_FILES, ARTIFACT_TYPES, DECISIONS, EXECUTION_ACTIONS, LEVELS, Type } from '../../../engine/base.ts'
import { ERRORS, type ErrorCode } from '../../errors/errors.ts'

export const nullable = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()])
/** The same as the schema, for members that may also be absent. */
export const maybe = <T extends TSchema>(schema: T) => Type.Optional(nullable(schema))

export const DIGEST_PATTERN = '^sha256:[0-9a-f]{64}$'
export const ID_PATTERN = '^[A-Za-z0-9_.:-]{1,200}$'
export const TRACE_ID_PATTERN = '^[0-9a-f]{32}$'
/** Texts that end up in a receipt: bounded, so that the token stays under 8,192 characters, and without control characters. */
const CLAIM_PATTERN = '^[^\\u0000-\\u001f\\u007f]*$'
/** One letter at least that is seen. Written as ranges, since not every reader of schemas knows classes of Unicode. */
export const NOT_BLANK =
  '[^\\s\\u007f-\\u00a0\\u00ad\\u034f\\u061c\\u115f\\u1160\\u17b4\\u17b5\\u180b-\\u180f\\u200b-\\u200f\\u202a-\\u202e\\u2060-\\u206f\\u2800\\u3164\\ufe00-\\ufe0f\\ufeff\\uffa0\\ufff9-\\ufffb]'
/** A number beyond these is another one when it has been read. */
export const ExactInteger = Type.Integer({ minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER })

export const instant = (description?: string) =>
  Type.String({ format: 'date-time', ...(description !== undefined && { description }) })

export const Digest = Type.String({ pattern: DIGEST_PATTERN, description: '`sha256:` and 64 lowercase hex digits.' })
export const CorrelationId = Type.String({ pattern: ID_PATTERN, description: 'Equal to the X-Correlation-ID header.' })
export const Ignored = Type.Array(Type.String(), {
  description: 'JSON Pointers of members of the request that are not known and were not read.',
})
export const Decision = Type.Enum(DECISIONS)
export const ExecutionAction = Type.Enum(EXECUTION_ACTIONS, {
  description: 'The one directive to branch on. A value you do not know is STOP.',
})
export const Level = Type.Enum(LEVELS)
const claimText = (maxLength: number, description: string) =>
  Type.String({ maxLength, pattern: CLAIM_PATTERN, allOf: [{ pattern: NOT_BLANK }], description })

export const Problem = Type.Object(
  {
    error: Type.Enum(errorCodes(), { description: 'Stable code; new ones may be added.' }),
    message: Type.String({ description: 'For people.' }),
    correlation_id: CorrelationId,
    details: Type.Optional(
      Type.Array(
        Type.Object({
          pointer: Type.String({
            description: 'JSON Pointer into the request body, or the name of a query parameter.',
          }),
          message: Type.String(),
        }),
      ),
    ),
  },
  { title: 'Problem', description: 'Why a request was refused. Never a decision.' },
)

function errorCodes(): ErrorCode[] {
  // The table's keys are exactly the codes; `Object.keys` only forgets it.
  return Object.keys(ERRORS).filter((code): code is ErrorCode => Object.hasOwn(ERRORS, code))
}

const Operation = Type.Object(
  { method: Type.String(), path: Type.String(), operation_id: nullable(Type.String()) },
  { title: 'Operation', description: 'An API operation, as the contract writes it.' },
)

const CHANGE = {
  rule: Type.String({ description: 'Stable kebab-case rule id.' }),
  code: Type.String({ description: 'The same id in upper snake case.' }),
  level: Level,
  direction: Type.Enum(['request', 'response', 'none']),
  location: Type.String({ description: 'JSON Pointer into the document that `side` names.' }),
  side: Type.Enum(['base', 'head']),
  line: nullable(Type.Integer({ minimum: 1 })),
  column: nullable(Type.Integer({ minimum: 1 })),
  message: Type.String({ description: 'Untrusted text: display only.' }),
  explanation: Type.String(),
  fix: Type.String(),
}

export const Finding = Type.Object(
  {
    ...CHANGE,
    operation: nullable(Operation),
    tool: nullable(Type.String()),
    offer: Type.Optional(
      Type.Object(
        { list: Type.Enum(['prompts', 'resources', 'resourceTemplates']), name: Type.String() },
        { description: 'What an MCP server offers beside its tools, where the change is of one such thing.' },
      ),
    ),
    before: Type.Unknown(),
    after: Type.Unknown(),
    fingerprint: Type.String({ description: 'Stable identity of this change in this place.' }),
    attributes: Type.Optional(
      Type.Record(Type.String(), Type.Unknown(), {
        description: 'Extension members of the operation that `options.attributes` names, where it has any.',
      }),
    ),
    group: Type.String({ description: 'Id of the group it belongs to.' }),
  },
  { title: 'Finding', description: 'One change of a contract in one place.' },
)

export const FindingGroup = Type.Object(
  {
    id: Type.String(),
    ...CHANGE,
    operations: Type.Array(Operation),
    tools: Type.Array(Type.String()),
    count: Type.Integer({ minimum: 1, description: 'Findings of the group.' }),
  },
  { title: 'FindingGroup', description: 'One change and every place that it reaches.' },
)

export const DetectedPattern = Type.Object(
  {
    name: Type.String(),
    severity: Type.Enum(['CRITICAL', 'HIGH', 'MEDIUM']),
    description: Type.String(),
    consequence: Type.String(),
    affected_path: Type.String(),
    affected_field: Type.String(),
    side: Type.Optional(Type.Enum(['request', 'response'])),
  },
  { title: 'DetectedPattern' },
)

export const PatternSource = Type.Object(
  {
    name: Type.String(),
    source: Type.Enum(['contract_diff', 'agent_heuristic', 'artifact_signal']),
    evidence_kind: Type.Enum(['measured', 'derived']),
    detected_pattern_indices: Type.Optional(Type.Array(Type.Integer({ minimum: 0 }))),
    basis_codes: Type.Optional(Type.Array(Type.String())),
    basis_code_labels: Type.Optional(Type.Array(nullable(Type.String()))),
    basis_rule_id: Type.Optional(Type.String()),
    rule_id: Type.Optional(Type.String()),
  },
  { title: 'PatternSource', description: 'Where a pattern name comes from.' },
)

export const Evidence = Type.Object(
  {
    type: Type.String(),
    source: Type.String(),
    finding: Type.String(),
    severity: Type.Enum(['INFO', 'LOW', 'MEDIUM', 'HIGH', 'CRITICAL']),
  },
  { title: 'Evidence' },
)

export const BlastRadius = Type.Object(
  {
    endpoints: Type.Integer({ minimum: 0 }),
    fields: Type.Integer({ minimum: 0 }),
    params: Type.Integer({ minimum: 0 }),
    consumers_declared: Type.Integer({ minimum: 0 }),
    consumers_observed: Type.Integer({ minimum: 0 }),
    graph_source: Type.Enum(['none', 'declared', 'observed', 'declared+observed']),
  },
  { title: 'BlastRadius', description: 'Counts, not a score.' },
)

/** Both spellings of the artifact types: canonical names and aliases (docs/reference/api.md#post-apiv1preflight). */
export const ArtifactTypeName = Type.Enum([...ARTIFACT_TYPES, 'grpc', 'mcp'], {
  description: '`grpc` means `protobuf`, `mcp` means `mcp_manifest`.',
})

const FileText = Type.Union([
  Type.String({ description: 'The text on both sides.' }),
  Type.Object({
    before: Type.Optional(Type.String({ description: 'Left out where the file is created.' })),
    after: Type.Optional(Type.String({ description: 'Left out where the file is deleted.' })),
  }),
])

/** Not a record by pattern: a name with a line break would not match it, and its value would go unchecked. */
export const ArtifactFiles = Type.Unsafe<Files>({
  type: 'object',
  maxProperties: MAX_ARTIFACT_FILES,
  additionalProperties: FileText,
  description:
    'Further files that the document refers to, by path: text, or {before, after}. A path starts where `path` starts, or with ./ or ../ at the document. They count to the length of each side.',
})

export const Artifact = Type.Object(
  {
    id: Type.String({ minLength: 1, maxLength: 300, description: 'Unique in the change set.' }),
    type: ArtifactTypeName,
    before: Type.String({ description: 'The whole contract before the change; empty when it is created.' }),
    after: Type.String({ description: 'The whole contract after the change; empty when it is deleted.' }),
    path: Type.Optional(Type.String({ minLength: 1, maxLength: 1000, description: 'Path in the repository.' })),
    files: Type.Optional(ArtifactFiles),
  },
  { title: 'Artifact', description: 'One contract, before and after.' },
)

export const DecisionContext = Type.Object(
  {
    operation: maybe(
      claimText(
        100,
        'The one operation that the receipt will authorize: tool_call, merge, deploy, publish, register …',
      ),
    ),
    environment: maybe(claimText(100, 'Target environment.')),
    repository: maybe(claimText(200, 'Repository that the change belongs to.')),
    branch: maybe(claimText(200, 'Branch of the change.')),
    pull_request: Type.Optional(
      Type.Union([claimText(100, 'Id of the pull request; a number is taken as its text.'), ExactInteger, Type.Null()]),
    ),
    base: maybe(claimText(200, 'Ref that the change set was computed against.')),
    head: maybe(claimText(200, 'Ref of the change.')),
    platform: maybe(claimText(100, 'Source-control platform.')),
    target_id: maybe(claimText(200, 'What the operation acts on.')),
    target_uri: maybe(claimText(2000, 'Address of the target.')),
  },
  { title: 'DecisionContext', description: 'What the caller says of the change.' },
)

type ListName = 'approvals' | 'baselines' | 'bindings' | 'break_glass' | 'delegations' | 'entries' | 'fleet' | 'keys'

export function listMembers(name: ListName, rows: TSchema): Readonly<Record<string, TSchema>> {
  return { items: rows, [name]: Type.Unsafe<readonly unknown[]>({ ...rows, description: 'Equal to items.' }) }
}

export function listAnswer<Row>(name: ListName, rows: readonly Row[]): Readonly<Record<string, readonly Row[]>> {
  return { items: rows, [name]: rows }
}

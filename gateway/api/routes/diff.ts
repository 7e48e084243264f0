/** POST /api/diff: two contracts compared, as JSON or as Markdown for people (docs/reference/api.md#post-apidiff). Counts, never decides. */
import type { Static } from 'typebox'
import { canonicalArtifactType, LEVELS, textOn, Type, lookupTable, pointerToken } from '../../../engine/base.ts'
import type { Artifact, ArtifactFiles, CompareOptions, Problem } from '../../../engine/internal.ts'
import { GatewayError, type ErrorCode, type ErrorDetail } from '../../errors/errors.ts'
import { placedMessage } from '../../errors/mistake.ts'
import { engine } from '../../loading/lazy-engine.ts'
import { diffReport } from '../../report/diff-report.ts'
import { renderMarkdown } from '../../report/markdown.ts'
import { DIFF_ASSESSMENT, diffAssessment } from '../diff-assessment.ts'
import { mistakesOfFiles } from '../change-set.ts'
import type { ApiDeps } from '../deps.ts'
import { type BodyMistake, defineRoute, bodyMistake, json, type RouteAnswer, type RouteExchange } from '../route.ts'
import {
  ArtifactFiles as Files,
  ArtifactTypeName,
  CorrelationId,
  Decision,
  DetectedPattern,
  Finding,
  FindingGroup,
  Ignored,
  nullable,
} from '../schemas/shapes.ts'
import { contractText, type ContractSide } from '../contract-text.ts'

const Options = Type.Object(
  {
    limit: Type.Optional(
      Type.Integer({ minimum: 0, description: 'Maximum number of findings in the answer; all are counted.' }),
    ),
    deprecation_days_stable: Type.Optional(Type.Integer({ minimum: 0 })),
    deprecation_days_beta: Type.Optional(Type.Integer({ minimum: 0 })),
    stability_level: Type.Optional(Type.Enum(['draft', 'alpha', 'beta', 'stable'])),
    levels: Type.Optional(
      Type.Record(Type.String(), Type.Enum([...LEVELS, 'off']), {
        description:
          'Levels that replace those of rules, by rule id, pattern of ids (mcp-tool-*) or coordinates (format:openapi,kind:lifecycle).',
      }),
    ),
    match_path: Type.Optional(Type.String({ description: 'Only paths that match this pattern (RE2).' })),
    unmatch_path: Type.Optional(Type.String({ description: 'Not the paths that match this pattern (RE2).' })),
    strip_prefix_base: Type.Optional(Type.String({ maxLength: 1000 })),
    strip_prefix_head: Type.Optional(Type.String({ maxLength: 1000 })),
    include_path_params: Type.Optional(Type.Boolean()),
    case_insensitive_headers: Type.Optional(Type.Boolean()),
    attributes: Type.Optional(
      Type.Array(Type.String({ pattern: '^x-', maxLength: 200 }), {
        maxItems: 100,
        description: 'Extension members of operations, such as `x-team`, that findings carry as `attributes`.',
      }),
    ),
  },
  { title: 'DiffOptions', additionalProperties: false },
)

const side = (description: string) => Type.Optional(Type.String({ description }))

const DiffRequest = Type.Object(
  {
    base: side(
      'The contract before: inline JSON or YAML, a URL of an allowed host, or <ref>:<path> with the files it refers to.',
    ),
    head: side('The contract after, in the same forms.'),
    before: side('Alias of base.'),
    after: side('Alias of head.'),
    old_spec: side('Alias of base.'),
    new_spec: side('Alias of head.'),
    files: Type.Optional(
      Type.Unsafe<ArtifactFiles>({
        ...Files,
        description:
          'Files that inline documents refer to, by path from the document: text, or {before, after}. They count towards the length of each side.',
      }),
    ),
    format: Type.Optional(Type.Enum(['json', 'markdown'])),
    type: Type.Optional(ArtifactTypeName),
    options: Type.Optional(Options),
  },
  {
    title: 'DiffRequest',
    allOf: [
      { anyOf: [{ required: ['base'] }, { required: ['before'] }, { required: ['old_spec'] }] },
      { anyOf: [{ required: ['head'] }, { required: ['after'] }, { required: ['new_spec'] }] },
    ],
  },
)
type DiffRequestBody = Static<typeof DiffRequest>

const counts = { base: Type.Integer({ minimum: 0 }), head: Type.Integer({ minimum: 0 }) }

const DiffAnswer = Type.Object(
  {
    summary: Type.Object({
      breaking: Type.Integer({ minimum: 0 }),
      dangerous: Type.Integer({ minimum: 0 }),
      info: Type.Integer({ minimum: 0 }),
      decision_hint: Decision,
      semver: Type.Enum(['major', 'minor', 'patch', 'none']),
      analysis_complete: Type.Boolean({
        description: 'False when a side refers to a file that was not submitted: that file was not compared.',
      }),
    }),
    findings: Type.Array(Finding),
    groups: Type.Array(FindingGroup),
    truncated: Type.Integer({ minimum: 0 }),
    patterns: Type.Array(Type.String()),
    detected_patterns: Type.Array(DetectedPattern),
    stats: Type.Object({
      operations: Type.Object(counts),
      schemas_compared: Type.Integer({ minimum: 0 }),
      touched: Type.Object({
        endpoints: Type.Integer({ minimum: 0 }),
        fields: Type.Integer({ minimum: 0 }),
        params: Type.Integer({ minimum: 0 }),
      }),
    }),
    spec_versions: Type.Object({ base: nullable(Type.String()), head: nullable(Type.String()) }),
    ...DIFF_ASSESSMENT,
    unresolved_references: Type.Array(
      Type.Object({ side: Type.Enum(['base', 'head']), reference: Type.String(), location: Type.String() }),
      { description: 'The first 200 references whose target was not submitted.' },
    ),
    ignored: Ignored,
    correlation_id: CorrelationId,
  },
  { title: 'DiffAnswer' },
)

const MEDIA_TYPES = { json: 'application/json', markdown: 'text/markdown' } as const

const NAMES = { base: ['base', 'before', 'old_spec'], head: ['head', 'after', 'new_spec'] } as const

export const diff = defineRoute({
  method: 'POST',
  paths: ['/api/diff', '/api/v1/diff'],
  operationId: 'diff',
  tag: 'preflight',
  summary: 'Compare two contracts',
  access: 'ask',
  counted: true,
  body: DiffRequest,
  toleratesUnknown: true,
  codes: [{ code: 'UNSUPPORTED_ARTIFACT_TYPE', pointer: /^\/type$/, keywords: ['enum'] }],
  mistakes: diffMistakes,
  answers: {
    200: {
      description: 'What changed, in the form that `format` names, else in the media type that the client prefers.',
      content: { 'application/json': DiffAnswer, 'text/markdown': Type.String() },
    },
  },
  errors: ['ARTIFACT_UNREADABLE', 'UNSUPPORTED_ARTIFACT_TYPE'],
  handle: answerDiff,
})

async function answerDiff(exchange: RouteExchange<DiffRequestBody>, deps: ApiDeps): Promise<RouteAnswer> {
  const { body, settings, correlationId } = exchange
  const [base, head] = await Promise.all([
    readContractSide('base', exchange, deps),
    readContractSide('head', exchange, deps),
  ])
  const [before, after] = [base.text, head.text]
  const files = { base: base.files, head: head.files }
  const type = await comparedType(body, before, after, deps)
  const inline = inlineFiles(body, { base, head })
  const details = mistakesOfFiles({ type, files: inline }).map(({ pointer, message }) => ({
    pointer: `/files${pointer}`,
    message,
  }))
  if (details.length > 0) throw new GatewayError('INVALID_INPUT', undefined, { details })
  await exchange.spend()
  const { limit, ...options } = body.options ?? {}
  const artifact: Artifact = { id: 'diff', type, before, after, files: inline }
  const comparison = await deps.flow.compare(artifact, { ...options, ...clock(deps), files })
  if (!comparison.ok) throw unreadableSide(comparison.problem, body)
  const most = Math.min(limit ?? settings.config.diff.findings, settings.config.diff.findings)
  const report = diffReport(comparison.value, most)
  // An explicit format wins; without one, the media type that the client prefers.
  const mediaType = body.format === undefined ? exchange.mediaType : MEDIA_TYPES[body.format]
  if (mediaType === MEDIA_TYPES.markdown) {
    return { kind: 'text', status: 200, mediaType, text: renderMarkdown(report) }
  }
  const compared = { type, comparison: comparison.value, report, most }
  return json({ ...report, ...diffAssessment(compared, settings, deps.now()), correlation_id: correlationId })
}

/** The files of the request, for each side whose document is in the request. Other documents bring their own files. */
function inlineFiles(
  { files = {} }: DiffRequestBody,
  { base, head }: Record<'base' | 'head', ContractSide>,
): ArtifactFiles {
  const kept = Object.entries(files).flatMap(([path, file]) => {
    const before = base.isInline ? textOn(file, 'before') : undefined
    const after = head.isInline ? textOn(file, 'after') : undefined
    const sides = { ...(before !== undefined && { before }), ...(after !== undefined && { after }) }
    // A file without any text is a mistake, and reported as one.
    return before === undefined && after === undefined && (!base.isInline || !head.isInline) ? [] : [[path, sides]]
  })
  return Object.fromEntries(kept)
}

function clock(deps: ApiDeps): Pick<CompareOptions, 'today'> {
  return { today: new Date(deps.now()).toISOString().slice(0, 10) }
}

/** The member that the caller used for this side. */
function namedMember(side: keyof typeof NAMES, body: DiffRequestBody): (typeof NAMES)[keyof typeof NAMES][number] {
  return NAMES[side].find((name) => body[name] !== undefined) ?? side
}

async function readContractSide(
  side: keyof typeof NAMES,
  { body, settings }: RouteExchange<DiffRequestBody>,
  { flow }: ApiDeps,
): Promise<ContractSide> {
  const member = namedMember(side, body)
  const read = await contractText(body[member] ?? '', settings.config, flow)
  if (read.ok) return read.side
  const details = [{ pointer: `/${member}`, message: read.message }]
  throw new GatewayError(read.because === 'not_configured' ? 'INVALID_INPUT' : 'ARTIFACT_UNREADABLE', undefined, {
    details,
  })
}

async function comparedType(body: DiffRequestBody, before: string, after: string, deps: ApiDeps) {
  if (body.type !== undefined) {
    const named = canonicalArtifactType(body.type)
    if (named !== null) return named
  }
  const sniffed = await deps.flow.sniff(before, after)
  if (sniffed.ok) return sniffed.value
  throw unreadableSide(sniffed.problem, body)
}

const CODES: Readonly<Record<string, ErrorCode>> = lookupTable({
  UNSUPPORTED_ARTIFACT_TYPE: 'UNSUPPORTED_ARTIFACT_TYPE',
  ANALYSIS_FAULT: 'INTERNAL',
  ANALYSIS_TIMEOUT: 'OVERLOADED',
  ANALYSIS_MEMORY: 'OVERLOADED',
})

/** A contract that cannot be compared: what is wrong, and where in its text. */
function unreadableSide(problem: Problem, body: DiffRequestBody): GatewayError {
  const pointer = problem.side === undefined ? '' : `/${namedMember(problem.side, body)}`
  const detail: ErrorDetail = { pointer, message: placedMessage(problem) }
  const code = CODES[problem.code] ?? 'ARTIFACT_UNREADABLE'
  return new GatewayError(code, undefined, { details: [detail], cause: new Error(problem.message) })
}

function diffMistakes(body: DiffRequestBody): readonly BodyMistake[] {
  return [...sideMistakes(body), ...patternMistakes(body), ...levelMistakes(body)]
}

function levelMistakes({ options }: DiffRequestBody): readonly BodyMistake[] {
  const levels = engine().readLevels(options?.levels ?? {})
  if (levels.ok) return []
  return levels.problem.map(({ selector, message, fix }) => {
    return bodyMistake(`/options/levels/${pointerToken(selector)}`, `${message}: ${fix}`)
  })
}

function patternMistakes({ options }: DiffRequestBody): readonly BodyMistake[] {
  return (['match_path', 'unmatch_path'] as const).flatMap((name) => {
    const pattern = options?.[name]
    if (pattern === undefined || pattern === '') return []
    const { compileLinearPattern, MAX_CALLER_PATTERN } = engine()
    const compiled = compileLinearPattern(pattern, MAX_CALLER_PATTERN)
    return compiled.ok ? [] : [bodyMistake(`/options/${name}`, compiled.problem.message)]
  })
}

function sideMistakes(body: DiffRequestBody): readonly BodyMistake[] {
  return (['base', 'head'] as const).flatMap((side) => {
    const given = NAMES[side].filter((name) => body[name] !== undefined)
    if (given.length < 2) return []
    return [bodyMistake(`/${given[1]}`, `says the same as ${given[0]}; give one of them`)]
  })
}

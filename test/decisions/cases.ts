/** The decision cases as values: read once, checked, contracts put in. The engine, the API and the proxy run the same ones. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { Type, type Static } from 'typebox'
import { Assert } from 'typebox/value'
import { parse } from 'yaml'
import {
  ARTIFACT_TYPES,
  DECISIONS,
  EMPTY_CONTEXT,
  type Artifact,
  type DecisionContext,
  type DecisionScope,
  type Envelope,
} from '../../engine/internal.ts'

const FILES = ['openapi', 'mcp', 'graphql']
const strict = { additionalProperties: false }
const codes = () => Type.Optional(Type.Array(Type.String()))

const Wanted = Type.Object(
  {
    decision: Type.Enum(DECISIONS),
    /** Codes, all of them, in order. */
    blocking_reasons: codes(),
    warnings: codes(),
    degraded_reasons: codes(),
    analysis_complete: Type.Optional(Type.Boolean()),
    evidence_quality: Type.Optional(Type.Enum(['LOW', 'MEDIUM', 'HIGH'])),
    breaking_changes: Type.Optional(Type.Integer()),
    risk_score: Type.Optional(Type.Integer()),
    ttl: Type.Optional(Type.Integer({ description: 'Seconds between evaluated_at and expires_at.' })),
    next_agent_step: Type.Optional(Type.String({ description: 'Its action.' })),
    targets: Type.Optional(Type.Array(Type.String(), { description: 'Of the remediation, to be checked again.' })),
  },
  strict,
)
export type Wanted = Static<typeof Wanted>

/** `before` and `after` name a contract of the file; `edits` make the head from the base; `text` gives both literally. */
const ArtifactEntry = Type.Object(
  {
    id: Type.String(),
    type: Type.Enum(ARTIFACT_TYPES),
    before: Type.Optional(Type.String()),
    after: Type.Optional(Type.String()),
    text: Type.Optional(Type.Object({ before: Type.String(), after: Type.String() }, strict)),
    edits: Type.Optional(Type.Array(Type.Object({ replace: Type.String(), with: Type.String() }, strict))),
  },
  strict,
)

const CaseFile = Type.Object(
  {
    contracts: Type.Record(Type.String(), Type.String()),
    cases: Type.Array(
      Type.Object(
        {
          description: Type.String(),
          policy: Type.Optional(Type.String({ description: 'Name of a shipped pack; default: `default`.' })),
          artifacts: Type.Array(ArtifactEntry),
          context: Type.Partial(Type.Record(Type.Enum(Object.keys(EMPTY_CONTEXT)), Type.String())),
          scope: Type.Optional(
            Type.Union([
              Type.Object({ tool: Type.String() }, strict),
              Type.Object({ method: Type.String(), path: Type.String() }, strict),
            ]),
          ),
          want: Wanted,
        },
        strict,
      ),
    ),
  },
  strict,
)

export interface DecisionCase {
  readonly file: string
  readonly description: string
  readonly policy: string
  readonly artifacts: readonly Artifact[]
  readonly context: DecisionContext
  /** Only for the proxy. The API judges whole change sets and skips such cases. */
  readonly scope: DecisionScope | null
  readonly want: Wanted
}

export function decisionCases(): readonly DecisionCase[] {
  return FILES.flatMap((file) => {
    const source: unknown = parse(readFileSync(new URL(`${file}.yaml`, import.meta.url), 'utf8'))
    Assert(CaseFile, source)
    const { contracts, cases } = source
    return cases.map(({ artifacts, context, scope = null, policy = 'default', ...rest }) => ({
      file,
      ...rest,
      policy,
      scope,
      context: { ...EMPTY_CONTEXT, ...context },
      artifacts: artifacts.map((entry) => readArtifact(entry, contracts)),
    }))
  })
}

function readArtifact(entry: Static<typeof ArtifactEntry>, contracts: Readonly<Record<string, string>>): Artifact {
  const { id, type, text } = entry
  if (text) return { id, type, ...text }
  const before = entry.before === undefined ? '' : contractOf(entry.before, contracts)
  const after = entry.after === undefined ? edited(before, entry.edits ?? []) : contractOf(entry.after, contracts)
  return { id, type, before, after }
}

function contractOf(name: string, contracts: Readonly<Record<string, string>>): string {
  const contract = contracts[name]
  assert.ok(contract !== undefined, `no contract ${name}`)
  return contract
}

/** Every edit has to fit in exactly one place: a case that changes nothing would prove nothing. */
function edited(base: string, edits: NonNullable<Static<typeof ArtifactEntry>['edits']>): string {
  assert.ok(edits.length > 0, 'an artifact needs after, edits or text')
  return edits.reduce((text, { replace, with: replacement }) => {
    const parts = text.split(replace)
    assert.equal(parts.length, 2, `this has to stand there once: ${replace}`)
    return parts.join(replacement)
  }, base)
}

/** Compares an envelope, from any listener, with the expectation of a case. */
export function assertWanted(envelope: Envelope, want: Wanted): void {
  const seen: Required<Wanted> = {
    decision: envelope.decision,
    blocking_reasons: envelope.blocking_reasons.map(({ code }) => code),
    warnings: envelope.warnings.map(({ code }) => code),
    degraded_reasons: (envelope.degraded_reasons ?? []).map(({ code }) => code),
    analysis_complete: envelope.analysis_complete,
    evidence_quality: envelope.evidence_quality,
    breaking_changes: envelope.breaking_changes ?? -1,
    risk_score: envelope.risk_score ?? -1,
    ttl: (Date.parse(envelope.expires_at) - Date.parse(envelope.evaluated_at)) / 1000,
    next_agent_step: envelope.next_agent_step?.action ?? 'none',
    targets: envelope.remediation_transaction?.recheck_scope.targets ?? [],
  }
  assert.deepEqual({ ...seen, ...want }, seen)
}

/** Findings under a policy: which ones decide (levels of the policy, scope), and what each requires. */
import { byCodeUnit } from '../common/code-unit-order.ts'
import type { ArtifactAnalysis, Comparison } from '../formats/compare.ts'
import { EXCHANGES } from '../contracts/protobuf/rpcs.ts'
import type { UnresolvedReference } from '../contracts/unresolved.ts'
import type { FindingGroup, Occurrence, Offer } from '../model/finding.ts'
import { detectPatterns } from '../patterns/detect.ts'
import type { PatternReport } from '../patterns/pattern.ts'
import type {
  ChangeSetRuling,
  CompiledPolicy,
  OccasionArtifact,
  PolicyEffect,
  PolicyEvaluator,
  PolicyOccasion,
  Release,
} from '../policy/policy.ts'
import type { EarlierDecision } from '../policy/history.ts'
import { ruleOf } from '../rules/catalog/table.ts'
import { consumersInContract, reachedConsumers, type DeclaredConsumer } from './consumers.ts'
import { touchedPlaces } from './graphql-scope.ts'
import { DECISION_CLASSES, stricterDecision, type Decision, type DecisionContext } from '../model/decision.ts'

/**
 * The findings that decide: those that reach this tool, operation, prompt or resource, and those of the whole
 * contract. Null: all.
 */
export type DecisionScope =
  | { readonly tool: string }
  | {
      readonly method: string
      readonly path: string
      /** False for an rpc whose messages contain no `google.protobuf.Any`: types that no rpc names cannot reach it. */
      readonly carriesAny?: boolean
      /**
       * For an rpc: the files of the service and of the types in its messages. Findings about other files as a whole
       * cannot reach it.
       */
      readonly files?: readonly string[]
    }
  /** A prompt of an MCP server, by name. */
  | { readonly prompt: string }
  /** A resource of an MCP server, by address: listed itself, or by a template. */
  | { readonly resource: string }
  /** A GraphQL operation, by its root fields and by the places of the schema that it touches (`touchOf`). */
  | {
      readonly root: 'QUERY' | 'MUTATION' | 'SUBSCRIPTION'
      readonly fields: readonly string[]
      readonly touches: readonly string[]
    }

/** A finding group, or the part of one, on which the policy has one opinion. */
export interface FindingJudgement {
  readonly artifact: string
  readonly group: FindingGroup
  /** The first of the places that are meant. */
  readonly occurrence: Occurrence
  readonly places: number
  readonly effect: PolicyEffect
}

export interface JudgedArtifact {
  readonly analysis: ArtifactAnalysis
  /** Those that decide; empty when the analysis failed. */
  readonly groups: readonly FindingGroup[]
  /** Of the groups that decide. */
  readonly patterns: PatternReport
  readonly judgements: readonly FindingJudgement[]
  /** References without a given target, as far as they concern the judged part. */
  readonly unresolved: readonly UnresolvedReference[]
}

/** What a change set is judged by. */
export interface JudgingTerms {
  readonly policy: CompiledPolicy
  readonly context: DecisionContext
  readonly scope: DecisionScope | null
  /** Name of the route of an intercepted call, for the policy. Absent or null: none. */
  readonly route?: string | null
  /** The publication that contains the contracts, whose version step the policy may check. Absent or null: none. */
  readonly release?: Release | null
  /** Declared consumers of the contracts. Absent: none. */
  readonly consumers?: readonly DeclaredConsumer[]
  /** Observed callers, under any names, which are only counted. Absent or null: calls were not observed. */
  readonly observed?: readonly DeclaredConsumer[] | null
  /** Earlier decisions of the same scope, newest first, for policies that look back (`historyWindow`); absent: none. */
  readonly history?: readonly EarlierDecision[]
  /** Seconds since the epoch, for the expiry of waivers. */
  readonly now: number
}

export interface JudgedChangeSet {
  /** In canonical order, so that the order of submission changes nothing. */
  readonly artifacts: readonly JudgedArtifact[]
  /** What the policy was asked about. */
  readonly occasion: PolicyOccasion
  /** What the policy says of the change set as a whole, strictest first. */
  readonly rulings: readonly ChangeSetRuling[]
  readonly reach: ConsumerReach
}

/** Names of those whom breaking and dangerous changes reach, by how they are known; null: nobody is known in this way, so nothing was measured. */
export interface ConsumerReach {
  readonly declared: readonly string[] | null
  readonly observed: readonly string[] | null
}

/**
 * All that a policy makes of a change set: rulings of its rules, waivers, freezes and demands, and whom it reaches. The clock and
 * the past come with the terms (`now` in milliseconds since the epoch), so the same terms give the same judgement.
 */
export function judgeChangeSet(analyses: readonly ArtifactAnalysis[], terms: JudgingTerms): JudgedChangeSet {
  const { policy, context, route = null, release = null, consumers = [], observed = null, history = [], now } = terms
  const rows = [...analyses]
    .sort((a, b) => byCodeUnit(a.type, b.type) || byCodeUnit(a.id, b.id))
    .map((analysis) => ({ analysis, groups: analysis.ok ? decidingGroups(analysis.comparison, terms) : [] }))
  const declared = [...consumers, ...rows.flatMap(({ analysis }) => consumersInAnalysis(analysis))]
  const reach = (users: readonly DeclaredConsumer[]) =>
    reachedConsumers(
      users,
      rows.map(({ analysis, groups }) => ({ id: analysis.id, groups })),
    )
  const occasion: PolicyOccasion = {
    context,
    route,
    release,
    now,
    consumers: reach(declared),
    artifacts: rows.map(({ analysis }) => occasionArtifact(analysis)),
    history: { window: policy.historyWindow ?? 0, decisions: history },
    changes: rows.flatMap(({ analysis, groups }) => groups.map((group) => ({ artifact: analysis.id, group }))),
  }
  const evaluate = policy.evaluator(occasion)
  const artifacts = rows.map(({ analysis, groups }) => {
    const judgements = groups.flatMap((group) => judgeGroup(analysis.id, group, evaluate))
    const unresolved = analysis.ok ? unresolvedInScope(analysis.comparison, terms.scope) : []
    return { analysis, groups, patterns: patternsOf(analysis, groups), judgements, unresolved }
  })
  return {
    artifacts,
    occasion,
    rulings: policy.changeSetRulings(occasion),
    reach: {
      declared: declared.length === 0 ? null : occasion.consumers,
      observed: observed === null ? null : reach(observed),
    },
  }
}

function consumersInAnalysis(analysis: ArtifactAnalysis): readonly DeclaredConsumer[] {
  return analysis.ok ? consumersInContract(analysis.id, analysis.comparison.contract_consumers ?? []) : []
}

function occasionArtifact(analysis: ArtifactAnalysis): OccasionArtifact {
  const { id, type, ok: isAnalysed } = analysis
  if (!analysis.ok) return { id, type, isAnalysed, isTwoSided: false, readsDay: false, versions: null }
  const { spec_versions: written, contract_versions: versions = null, reads_day: readsDay } = analysis.comparison
  return { id, type, isAnalysed, isTwoSided: written.base !== null && written.head !== null, readsDay, versions }
}

const NO_PATTERNS: PatternReport = { patterns: [], pattern_sources: [], detected_patterns: [] }

/**
 * The comparison named patterns for all of its findings. If some findings do not count, patterns are detected again.
 */
function patternsOf(analysis: ArtifactAnalysis, groups: readonly FindingGroup[]): PatternReport {
  if (!analysis.ok) return NO_PATTERNS
  const { comparison } = analysis
  const isWhole =
    groups.length === comparison.groups.length && groups.every((group, index) => group === comparison.groups[index])
  return isWhole ? comparison : detectPatterns(groups)
}

/** Strictest first; equals stay in the order of the contract. */
export function strictestFirst(artifacts: readonly JudgedArtifact[]): readonly FindingJudgement[] {
  const strictness = ({ effect }: FindingJudgement) => DECISION_CLASSES[effect.decision].strictness
  return artifacts.flatMap(({ judgements }) => judgements).sort((a, b) => strictness(b) - strictness(a))
}

export function strictestOf(judgements: readonly FindingJudgement[], floor: Decision): Decision {
  return judgements.reduce((decision, { effect }) => stricterDecision(decision, effect.decision), floor)
}

function decidingGroups(comparison: Comparison, { policy, scope }: JudgingTerms): readonly FindingGroup[] {
  const placesOf = scope === null ? everywhere : 'touches' in scope ? touchedPart(scope) : scopedPart(scope)
  return comparison.groups.flatMap((group): readonly FindingGroup[] => {
    const level = policy.levels.get(group.rule) ?? group.level
    if (level === 'off') return []
    const occurrences = placesOf(group)
    const isListed = occurrences.length === group.occurrences.length
    if (isListed && level === group.level) return [group]
    // An unlisted place may be the requested one.
    if (occurrences.length === 0 && !group.unlisted) return []
    return [{ ...group, level, occurrences: occurrences.length > 0 ? occurrences : [anywhere(group)] }]
  })
}

/** Represents the unlisted places of a group. As a finding of the whole contract it is in every scope. */
function anywhere({ id, message }: FindingGroup): Occurrence {
  return { operation: null, tool: null, message, fingerprint: id }
}

/** The schema of one tool has no effect on calls of another one. Other references may have an effect. */
function unresolvedInScope({ unresolved }: Comparison, scope: DecisionScope | null): readonly UnresolvedReference[] {
  if (scope === null) return unresolved
  const called = 'tool' in scope ? scope.tool : null
  return unresolved.filter(({ tool }) => tool === null || tool === called)
}

type PlacesOf = (group: FindingGroup) => readonly Occurrence[]
type TouchScope = Extract<DecisionScope, { readonly touches: readonly string[] }>
type PlaceScope = Exclude<DecisionScope, TouchScope>

function everywhere({ occurrences }: FindingGroup): readonly Occurrence[] {
  return occurrences
}

function scopedPart(scope: PlaceScope): PlacesOf {
  return (group) => group.occurrences.filter((place) => isInScope(place, scope, group))
}

/** If the change is touched, its places are those of the operation's root fields, or any place where it is reported. */
function touchedPart({ root, fields, touches }: TouchScope): PlacesOf {
  const isTouched = touchedPlaces(touches)
  const own = new Set(fields)
  return (group) => {
    if (!isTouched(group)) return []
    const places = group.occurrences.filter(
      ({ operation }) => operation === null || (operation.method === root && own.has(operation.path)),
    )
    return places.length > 0 ? places : [anywhere(group)]
  }
}

function isInScope({ operation, tool, offer }: Occurrence, scope: PlaceScope, group: FindingGroup): boolean {
  if (operation === null && tool === null && offer === undefined) return !('path' in scope) || mayReach(scope, group)
  if ('tool' in scope) return tool === scope.tool
  if ('prompt' in scope) return offer?.list === 'prompts' && offer.name === scope.prompt
  if ('resource' in scope) return offer !== undefined && mayOffer(offer, scope.resource)
  return operation?.path === scope.path && isSameMethod(operation.method, scope.method)
}

/** The path alone identifies an rpc, because its form of exchange may be what changed. */
function isSameMethod(a: string, b: string): boolean {
  return a === b || (isExchange(a) && isExchange(b))
}

function isExchange(method: string): boolean {
  return EXCHANGES.some((exchange) => exchange === method)
}

/**
 * Whether a finding without an operation can reach this one. It always can, unless the operation is an rpc whose
 * message types are known.
 */
function mayReach(
  { carriesAny, files }: Extract<PlaceScope, { readonly path: string }>,
  { rule, location }: FindingGroup,
): boolean {
  const area = ruleOf(rule)?.area ?? ''
  if (carriesAny !== false || files === undefined || location === '') return true
  // A finding about a message, enum or extension without an rpc concerns a type that no rpc reaches.
  if (PROTO_TYPES.has(area)) return false
  // The single file of a contract that is not a set has no path.
  return area !== 'protobuf files' || files.some((file) => file === '' || `${location}/`.startsWith(`${file}/`))
}

const PROTO_TYPES: ReadonlySet<string> = new Set([
  'protobuf declarations',
  'protobuf messages',
  'protobuf fields',
  'protobuf enums',
])

/**
 * A template counts for every address with its literal prefix. It may match one address too many, never one too few
 * (RFC 6570 leaves the rest open).
 */
function mayOffer({ list, name }: Offer, address: string): boolean {
  if (list === 'resources') return name === address
  return list === 'resourceTemplates' && address.startsWith(name.split('{', 1)[0] ?? '')
}

function judgeGroup(artifact: string, group: FindingGroup, evaluate: PolicyEvaluator): readonly FindingJudgement[] {
  const opinions = new Map<string, { occurrence: Occurrence; places: number; effect: PolicyEffect }>()
  const listed = group.occurrences.map((occurrence) => ({ occurrence, places: 1 }))
  const unlisted = group.unlisted ? [{ occurrence: anywhere(group), places: group.unlisted }] : []
  for (const { occurrence, places } of [...listed, ...unlisted]) {
    const effect = evaluate(group, occurrence)
    const { decision, ruleId, observed, waiver, approvers } = effect
    const key = JSON.stringify([decision, ruleId, observed?.ruleId, waiver?.id, approvers])
    const opinion = opinions.get(key)
    if (opinion) opinion.places += places
    else opinions.set(key, { occurrence, places, effect })
  }
  return [...opinions.values()].map((opinion) => ({ artifact, group, ...opinion }))
}

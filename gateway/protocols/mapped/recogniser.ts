/** Any HTTP request, as the operator's rules say what it is: the first rule that matches decides; what none matches is denied unless it only reads. */
import type { MappedRoute } from './settings.ts'
import { ok } from '../../../engine/base.ts'
import type { RequestFacts, RequestField, Result } from '../../../engine/internal.ts'
import type { Upstreams } from '../../upstream/pools.ts'
import type { Action, PassingAction, Recogniser } from '../common/action.ts'
import type { Call, CallHead } from '../../calls/call.ts'
import { httpRefusal, passingAction, stoppedAction } from '../common/refusal.ts'
import { MatchedRequest, UnmappedRequest, type ContractReader } from './action.ts'
import {
  furtherFacts,
  headFacts,
  looseFacts,
  wholeFacts,
  type HeadFacts,
  type LooseFacts,
  type ReadNames,
} from './facts.ts'
import { compileRules, type CompiledMapping } from './rules.ts'
import { PATH_FIELDS } from '../../routing/field-name.ts'
import { canonicalName } from '../../routing/query-names.ts'
import { holdsRequests } from '../common/batched-requests.ts'
import { countingNames } from '../../json/folded-names.ts'
import { isRead, callName } from '../common/request-line.ts'
import { mayNameMethodInBody, methodInBody, overridesMethod } from '../common/method-override.ts'

interface MappedDeps extends ContractReader {
  readonly upstreams: Upstreams
}

interface Match {
  readonly index: number
  /** Null: no rule. */
  readonly rule: CompiledMapping | null
}

/** The rules of a route, and what follows from all of them. */
interface RuleSet {
  readonly rules: readonly CompiledMapping[]
  readonly read: ReadNames
  /** Some condition compares the path with a text that has capitals. */
  readonly isCaseSensitive: boolean
  /** Some condition may distinguish a path with a slash at its end. */
  readonly countsEnd: boolean
  readonly isMethodRead: boolean
  readonly isPathRead: boolean
}

export function createMappedRecogniser(deps: MappedDeps): Recogniser<MappedRoute> {
  const compiled = new WeakMap<MappedRoute, RuleSet>()
  const rulesOf = (route: MappedRoute): RuleSet => {
    const known = compiled.get(route)
    if (known !== undefined) return known
    const rules = compileRules(route.map ?? [])
    // The configuration was checked when it was loaded.
    if (!rules.ok) throw new Error(`the map of ${route.name} does not compile: ${rules.problem[0]?.message}`)
    const set = ruleSet(rules.value)
    compiled.set(route, set)
    return set
  }
  return {
    needsBody: (head) => isBodyRead(rulesOf(head.route), head) || isMethodInBodyDecisive(rulesOf(head.route), head),
    recognise: (call) => recogniseMapped(rulesOf(call.route), call, deps),
  }
}

/** As far as the rules can be followed without the body: it is read when the next rule asks for it, or the one that matches. */
function isBodyRead({ rules, read }: RuleSet, head: CallHead<MappedRoute>): boolean {
  const facts = headFacts(head, read)
  if (!facts.ok) return false
  for (const { when, reads } of rules) {
    if (when?.reads.has('body') === true) return true
    const isMatch = when === null ? ok(true) : when.test(facts.value.facts)
    if (!isMatch.ok) return false
    if (isMatch.value) return reads.has('body')
  }
  return false
}

/** A framework may run the method that a form or JSON names: the body is read where that one would be judged otherwise. */
function isMethodInBodyDecisive(set: RuleSet, head: CallHead<MappedRoute>): boolean {
  if (!set.isMethodRead || !mayNameMethodInBody(head)) return false
  const facts = headFacts(head, set.read)
  const own = facts.ok ? firstMatch(set.rules, facts.value.facts, false) : facts
  return facts.ok && own.ok && ruleOfNamedMethod(head, own.value, facts.value, set) !== null
}

function ruleSet(rules: readonly CompiledMapping[]): RuleSet {
  const names = [...new Set(rules.flatMap((rule) => [...rule.names]))]
  const isRead = (field: RequestField): boolean =>
    rules.some(({ when, reads }) => reads.has(field) || when?.reads.has(field) === true)
  return {
    rules,
    isCaseSensitive: rules.some(({ when }) => when?.isCaseSensitive === true),
    countsEnd: rules.some(({ countsEnd }) => countsEnd),
    isMethodRead: isRead('method'),
    isPathRead: isRead('path') || isRead('segments'),
    read: {
      names: countingNames(names),
      canonical: new Set(names.map(canonicalName)),
      isAny: rules.some(({ hasLoops }) => hasLoops),
      isQueryRead: isRead('query'),
      areHeadersRead: isRead('headers'),
    },
  }
}

function recogniseMapped(set: RuleSet, call: Call<MappedRoute>, deps: MappedDeps): Action {
  const stated = set.isMethodRead ? methodInBody(call) : 'none'
  if (stated === 'named' || overridesMethod(call)) return new UnmappedRequest(call, 'it states its method twice')
  const { rules, read } = set
  const second = set.isPathRead ? PATH_FIELDS.find((name) => call.headers[name] !== undefined) : undefined
  if (second !== undefined && !read.names.exact.has(second))
    return new UnmappedRequest(call, `its field ${second} names a second path, which no rule reads`)
  const head = isBodyRead(set, call) ? wholeFacts(call, read) : headFacts(call, read)
  if (!head.ok) return new UnmappedRequest(call, head.problem)
  const { facts } = head.value
  const match = firstMatch(rules, facts, false)
  if (!match.ok) return new UnmappedRequest(call, match.problem)
  const loose = looseFacts(head.value)
  const other =
    otherRule(call, match.value, otherReadings(head.value, loose, set), set) ??
    (stated === 'unknown' ? ruleOfNamedMethod(call, match.value, head.value, set) : null)
  if (other !== null) return other
  const { index, rule } = match.value
  if (holdsRequests(call) && isFreeOfPath(call, match.value, set))
    return new UnmappedRequest(call, 'its body holds further requests, whose paths no rule reads')
  if (rule === null) return unmatched(call)
  const { effect } = rule
  if (effect.kind === 'pass') return { ...passingMappedCall(call), coversUpgrade: true }
  if (effect.kind === 'deny') return deniedBy(call, effect.message)
  return new MatchedRequest(call, { index, effect, facts, loose }, deps)
}

/** It would pass by no rule about its path, while some rule of the route is about paths or methods. */
function isFreeOfPath(call: Call<MappedRoute>, { rule }: Match, { isPathRead, isMethodRead }: RuleSet): boolean {
  if (!isPathRead && !isMethodRead) return false
  if (rule === null) return isPassingUnmatched(call)
  const namesPlace = rule.when?.reads.has('path') === true || rule.when?.reads.has('segments') === true
  return rule.effect.kind === 'pass' && !namesPlace
}

function deniedBy(call: CallHead<MappedRoute>, message: string | null): Action {
  return denied(call, message ?? `The route "${call.route.name}" lets no such request through.`)
}

function otherReadings(head: HeadFacts, loose: RequestFacts | null, set: RuleSet): readonly LooseFacts[] {
  const further = furtherFacts(head, set)
  return loose === null ? further : [{ facts: loose, isFolded: false, isCommon: false }, ...further]
}

/**
 * The action for a request that another rule would match by another reading of its path; null: none would, or none that
 * is stricter.
 */
function otherRule(call: Call<MappedRoute>, own: Match, readings: readonly LooseFacts[], set: RuleSet): Action | null {
  // Nothing is stricter.
  if (own.rule?.effect.kind === 'deny') return null
  for (const { facts, isFolded, isCommon } of readings) {
    const other = firstMatch(set.rules, facts, isFolded)
    if (other.ok && (other.value.index === own.index || (isCommon && isMilder(call, other.value, own)))) continue
    const effect = other.ok ? other.value.rule?.effect : undefined
    // A denial needs no second reading.
    if (effect?.kind === 'deny') return deniedBy(call, effect.message)
    const matching = other.ok && other.value.rule === null ? 'no rule matches' : 'another rule would match'
    return new UnmappedRequest(call, `${matching} its path as many servers read it, ${facts.path}`)
  }
  return null
}

const NAMED_METHODS = ['GET', 'HEAD', 'OPTIONS', 'PUT', 'PATCH', 'DELETE'] as const

/** The action for a request whose body may name a method that another rule, or none, is about; null: nothing is stricter. */
function ruleOfNamedMethod(call: CallHead<MappedRoute>, own: Match, head: HeadFacts, set: RuleSet): Action | null {
  if (own.rule?.effect.kind === 'deny') return null
  const readings = [{ facts: head.facts, isFolded: false }, ...furtherFacts(head, set)]
  for (const { facts, isFolded } of readings)
    for (const method of NAMED_METHODS) {
      const other = firstMatch(set.rules, { ...facts, method }, isFolded)
      if (other.ok && (other.value.index === own.index || isFree(call, other.value, method))) continue
      const effect = other.ok ? other.value.rule?.effect : undefined
      if (effect?.kind === 'deny') return deniedBy(call, effect.message)
      return new UnmappedRequest(call, `its body may name the method ${method}, of which another rule decides`)
    }
  return null
}

/** Whoever is free to send a request may also let a POST stand for it. */
function isFree({ route, trafficPath }: CallHead<MappedRoute>, { rule }: Match, method: string): boolean {
  if (rule !== null) return rule.effect.kind === 'pass'
  // Proxies that ask seldom have the body to give: only the rules themselves count for them.
  return trafficPath === 'ext_authz' || isPassingUnmatched({ route, method })
}

/** Of a path that is written plainly: the rule that it matches was written for it, unless the other one is stricter or comes first. */
function isMilder(call: Call<MappedRoute>, other: Match, own: Match): boolean {
  const isLater = other.index === -1 || other.index > own.index || own.index === -1
  return isLater && strictnessOf(call, other) <= strictnessOf(call, own)
}

function strictnessOf(call: Call<MappedRoute>, { rule }: Match): number {
  if (rule === null) return isPassingUnmatched(call) ? 0 : 2
  const { kind } = rule.effect
  if (kind === 'pass') return 0
  return kind === 'deny' ? 2 : 1
}

/** A condition that cannot be evaluated might have matched: nothing behind it is asked. */
function firstMatch(rules: readonly CompiledMapping[], facts: RequestFacts, isFolded: boolean): Result<Match, string> {
  for (const [index, rule] of rules.entries()) {
    const { when } = rule
    const isMatch = when === null ? ok(true) : isFolded ? when.testFolded(facts) : when.test(facts)
    if (!isMatch.ok) return { ok: false, problem: `map[${index}].when: ${isMatch.problem}` }
    if (isMatch.value) return ok({ index, rule })
  }
  return ok({ index: -1, rule: null })
}

function unmatched(call: Call<MappedRoute>): Action {
  if (isPassingUnmatched(call)) return passingMappedCall(call)
  return denied(call, `No rule of the route "${call.route.name}" says what this request does.`)
}

function isPassingUnmatched({ route, method }: Pick<CallHead<MappedRoute>, 'route' | 'method'>): boolean {
  return (route.otherwise ?? (isRead(method) ? 'pass' : 'deny')) === 'pass'
}

function passingMappedCall(call: CallHead<MappedRoute>): PassingAction {
  return passingAction(callName(call), httpRefusal)
}

function denied(call: CallHead<MappedRoute>, message: string): Action {
  return stoppedAction(call, { name: callName(call), message, why: message }, httpRefusal)
}

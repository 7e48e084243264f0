/** Any HTTP request, as the operator's rules say what it is: the first rule that matches decides; what none matches is denied unless it only reads. */
import { ok } from '../../../engine/base.ts'
import type { RequestFacts, Result } from '../../../engine/index.ts'
import type { RouteConfig } from '../../config/route.ts'
import type { Upstreams } from '../../proxy/upstream.ts'
import type { Action, Call, CallHead, PassingAction, Recogniser } from '../action.ts'
import { overridesMethod } from '../method-override.ts'
import { httpRefusal } from '../refusal.ts'
import { MatchedRequest, UnmappedRequest } from './action.ts'
import { headFacts, looseFacts, wholeFacts } from './facts.ts'
import { compileRules, type CompiledRule } from './rules.ts'
import { isRead } from '../request-line.ts'

export interface MappedDeps {
  readonly upstreams: Upstreams
}

interface Match {
  readonly index: number
  /** Null: no rule. */
  readonly rule: CompiledRule | null
}

export function createMappedRecogniser(deps: MappedDeps): Recogniser {
  const compiled = new WeakMap<RouteConfig, readonly CompiledRule[]>()
  const rulesOf = (route: RouteConfig): readonly CompiledRule[] => {
    const known = compiled.get(route)
    if (known !== undefined) return known
    const rules = compileRules(route.map ?? [])
    // The configuration was checked when it was loaded.
    if (!rules.ok) throw new Error(`the map of ${route.name} does not compile: ${rules.problem[0]?.message}`)
    compiled.set(route, rules.value)
    return rules.value
  }
  return {
    needsBody: (head) => needsBody(rulesOf(head.route), head),
    recognise: (call) => recognise(rulesOf(call.route), call, deps),
  }
}

/** As far as the rules can be followed without the body: it is read when the next rule asks for it, or the one that matches. */
function needsBody(rules: readonly CompiledRule[], head: CallHead): boolean {
  const facts = headFacts(head, isQueryRead(rules))
  if (!facts.ok) return false
  for (const { when, reads } of rules) {
    if (when?.reads.has('body') === true) return true
    const isMatch = when === null ? ok(true) : when.test(facts.value)
    if (!isMatch.ok) return false
    if (isMatch.value) return reads.has('body')
  }
  return false
}

function isQueryRead(rules: readonly CompiledRule[]): boolean {
  return rules.some(({ when, reads }) => reads.has('query') || when?.reads.has('query') === true)
}

function recognise(rules: readonly CompiledRule[], call: Call, deps: MappedDeps): Action {
  if (overridesMethod(call)) return new UnmappedRequest(call, 'it states its method twice')
  const readsQuery = isQueryRead(rules)
  const facts = call.body === null ? headFacts(call, readsQuery) : wholeFacts(call, readsQuery)
  if (!facts.ok) return new UnmappedRequest(call, facts.problem)
  const match = firstMatch(rules, facts.value)
  if (!match.ok) return new UnmappedRequest(call, match.problem)
  const { index, rule } = match.value
  const loose = looseFacts(facts.value)
  if (loose !== null) {
    const other = firstMatch(rules, loose)
    if (!other.ok || other.value.index !== index)
      return new UnmappedRequest(call, `another rule would match its path as many servers read it, ${loose.path}`)
  }
  if (rule === null) return unmatched(call)
  const { effect } = rule
  if (effect.kind === 'pass') return { ...passing(call), coversUpgrade: true }
  if (effect.kind === 'deny')
    return denied(call, effect.message ?? `The route "${call.route.name}" lets no such request through.`)
  return new MatchedRequest(call, { index, effect, facts: facts.value, loose }, deps.upstreams)
}

/** A condition that cannot be evaluated might have matched: nothing behind it is asked. */
function firstMatch(rules: readonly CompiledRule[], facts: RequestFacts): Result<Match, string> {
  for (const [index, rule] of rules.entries()) {
    const isMatch = rule.when === null ? ok(true) : rule.when.test(facts)
    if (!isMatch.ok) return { ok: false, problem: `map[${index}].when: ${isMatch.problem}` }
    if (isMatch.value) return ok({ index, rule })
  }
  return ok({ index: -1, rule: null })
}

function unmatched(call: Call): Action {
  const isPassing = (call.route.otherwise ?? (isRead(call.method) ? 'pass' : 'deny')) === 'pass'
  if (isPassing) return passing(call)
  return denied(call, `No rule of the route "${call.route.name}" says what this request does.`)
}

function passing({ method, upstreamPath }: Call): PassingAction {
  return {
    kind: 'pass',
    name: `${method} ${upstreamPath.split('?', 1)[0] ?? ''}`,
    isStanding: false,
    watch: () => null,
    refuse: httpRefusal,
  }
}

function denied(call: Call, message: string): Action {
  const { name } = passing(call)
  const { correlationId } = call
  const answer = httpRefusal({ code: 'PREFLIGHT_STOP', message, correlationId, envelope: null, subject: null })
  const stopped = { ...answer, headers: { ...answer.headers, 'Preflight-Action': 'STOP' } }
  return { kind: 'refuse', name, answer: stopped, why: message }
}

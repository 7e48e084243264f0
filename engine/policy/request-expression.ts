/** Expressions about an HTTP request: the CEL by which an operator states the meaning of a request. */
import { CelScalar, celEnv, isCelList, isCelMap, mapType, plan } from '@bufbuild/cel'
import { strings } from '@bufbuild/cel/ext'
import type { Json } from '../common/hash.ts'
import { ok, type Result } from '../common/result.ts'
import { evaluated, readExpression, tested } from './expression.ts'
import { foldPathTexts, memberNames } from './letter-case.ts'

/** Members of the variable `request`. */
export const REQUEST_FIELDS = ['method', 'path', 'segments', 'query', 'headers', 'body'] as const
export type RequestField = (typeof REQUEST_FIELDS)[number]

/** What an expression sees. */
export interface RequestFacts {
  readonly method: string
  /** At the upstream, without query, percent-decoded. */
  readonly path: string
  /** Those of the path; of `/a/b` they are `a` and `b`. */
  readonly segments: readonly string[]
  readonly query: Readonly<Record<string, string>>
  /** By lower-case name. */
  readonly headers: Readonly<Record<string, string>>
  /** JSON; null when there is none, or when it was not read because nothing asks for it. */
  readonly body: Json
}

export interface RequestExpression {
  /** Members of `request` that it reads; all of them when it reads `request` as a whole. */
  readonly reads: ReadonlySet<RequestField>
  /** Names of members that it may read, at any depth. */
  readonly names: ReadonlySet<string>
  /** It goes over members, so that any of them may count. */
  readonly hasLoops: boolean
  /** It compares the path with a text that has capitals. */
  readonly isCaseSensitive: boolean
  /** Never throws; a value that is not true or false is a failure like any other. */
  test(facts: RequestFacts): Result<boolean, string>
  /** The same for a server that ignores the case of letters. @param facts with a path and segments that are folded */
  testFolded(facts: RequestFacts): Result<boolean, string>
  /** Never throws; a value without a JSON form is a failure like any other. */
  evaluate(facts: RequestFacts): Result<Json, string>
}

const ENVIRONMENT = celEnv({
  variables: { request: mapType(CelScalar.STRING, CelScalar.DYN) },
  funcs: strings,
})

/** @returns the expression, or what is wrong with its text, with line and column where its grammar is. */
export function compileRequestExpression(source: string): Result<RequestExpression, string> {
  const reads = new Set<RequestField>()
  const work: Work = { rounds: 0, splits: false }
  const expression = readExpression(source, {
    isFunction(name) {
      work.splits ||= name === 'split'
      return ENVIRONMENT.funcs.find(name) !== undefined
    },
    loopFound() {
      work.rounds = Math.max(work.rounds, 1)
    },
    variableFault(name, field, loops) {
      // What a loop goes over anew for each member of another one.
      work.rounds = Math.max(work.rounds, loops === 0 ? 0 : loops + 1)
      if (name !== 'request') return `reads ${name}, which does not exist; there is request`
      const known = REQUEST_FIELDS.filter((one) => field === null || one === field)
      for (const one of known) reads.add(one)
      return known.length > 0
        ? null
        : `reads request.${field}, which does not exist; there are ${REQUEST_FIELDS.join(', ')}`
    },
  })
  if (!expression.ok) return expression
  const names = memberNames(expression.value)
  const run = plan(ENVIRONMENT, expression.value)
  const folded = readExpression(source, KNOWN)
  const isCaseSensitive = folded.ok && foldPathTexts(folded.value)
  const runFolded = isCaseSensitive ? plan(ENVIRONMENT, folded.value) : run
  return ok({
    reads,
    names,
    hasLoops: work.rounds > 0,
    isCaseSensitive,
    testFolded: (facts) => (isTooMuch(facts, work) ? TOO_MUCH : tested(() => runFolded({ request: { ...facts } }))),
    test: (facts) => (isTooMuch(facts, work) ? TOO_MUCH : tested(() => run({ request: { ...facts } }))),
    evaluate(facts) {
      const value = isTooMuch(facts, work) ? TOO_MUCH : evaluated(() => run({ request: { ...facts } }))
      return value.ok ? jsonOfValue(value.value) : value
    },
  })
}

/** For a text that was checked before. */
const KNOWN = { isFunction: () => true, variableFault: () => null }

/** What the loops of an expression may cost: how often each goes over the request, and whether texts become lists. */
interface Work {
  rounds: number
  splits: boolean
}

/** Steps of all loops together; a fraction of a second. The lists are whatever the sender of the request likes. */
const MAX_STEPS = 1_000_000
const TOO_MUCH = {
  ok: false,
  problem: 'the request holds more than the loops of the expression may go over',
} as const

function isTooMuch(facts: RequestFacts, { rounds, splits }: Work): boolean {
  if (rounds === 0) return false
  const most = Math.floor(MAX_STEPS ** (1 / rounds))
  const { method: _method, ...looped } = facts
  return sizeOf(Object.values(looped), splits, most) > most
}

/** Members at every depth, and letters where these may become members; counted until there are too many. */
function sizeOf(value: Json, splits: boolean, most: number): number {
  if (typeof value === 'string') return splits ? value.length + 1 : 1
  if (typeof value !== 'object' || value === null) return 1
  let size = 1
  for (const member of Object.values(value)) {
    if (size > most) break
    size += sizeOf(member, splits, most - size)
  }
  return size
}

/** Values of CEL as JSON: maps with text keys, lists, texts, numbers, booleans and null. */
function jsonOfValue(value: unknown): Result<Json, string> {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return ok(value)
  if (typeof value === 'number' && Number.isFinite(value)) return ok(value)
  if (typeof value === 'bigint' && Number.isSafeInteger(Number(value))) return ok(Number(value))
  if (isCelList(value)) {
    const items: Json[] = []
    for (const item of value) {
      const json = jsonOfValue(item)
      if (!json.ok) return json
      items.push(json.value)
    }
    return ok(items)
  }
  return isCelMap(value) ? jsonOfMap(value) : NO_JSON
}

const NO_JSON = { ok: false, problem: 'the answer has no JSON form' } as const

function jsonOfMap(map: Iterable<readonly [unknown, unknown]>): Result<Json, string> {
  const members: [string, Json][] = []
  for (const [key, member] of map) {
    const json = jsonOfValue(member)
    if (!json.ok) return json
    if (typeof key !== 'string') return NO_JSON
    members.push([key, json.value])
  }
  return ok(Object.fromEntries(members))
}

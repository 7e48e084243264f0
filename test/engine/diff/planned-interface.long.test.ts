/**
 * Interfaces at random, with one or two edits each. Two things are a proof: a call that the base describes and the head refuses,
 * and an answer of the head that the base rules out. A breaking or dangerous change must then be reported. An interface that
 * is only written otherwise has no change of meaning.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { compare } from '../../../engine/formats/compare.ts'
import { sha256 } from '../../conformance/openapi-run.ts'
import { Random } from '../../soundness/random.ts'
import {
  drawnPlan,
  editedPlan,
  variablesOf,
  type Answer,
  type Credentials,
  type Kind,
  type Media,
  type Place,
  type Plan,
  type PlannedOperation,
} from './planned-interface.ts'
import { writtenPlan } from './planned-writing.ts'

const PAIRS = Number(process.env['PAIRS'] ?? 1500)
const SEED = Number(process.env['SEED'] ?? 1)

const TEXTS: Readonly<Record<Kind, readonly string[]>> = {
  text: ['x', 'b', 'c', '7', 'true', 'other'],
  whole: ['7'],
  flag: ['true', 'false'],
  listed: ['x', '7'],
}
const VALUES: Readonly<Record<Kind, readonly unknown[]>> = {
  text: ['x', 'other'],
  whole: [7],
  flag: [true],
  listed: ['x', '7'],
}

function admits(kind: Kind, value: unknown): boolean {
  return kind === 'text'
    ? typeof value === 'string'
    : VALUES[kind].includes(value) || (kind === 'flag' && value === false)
}

const admitsText = (kind: Kind, text: string): boolean => kind === 'text' || TEXTS[kind].includes(text)

interface Body {
  readonly media: string
  /** The member `f`; undefined: left out. */
  readonly member: unknown
}

interface Call {
  readonly method: string
  readonly path: string
  readonly given: readonly { readonly name: string; readonly place: Place; readonly text: string }[]
  readonly body: Body | null
  readonly credentials: Credentials
  /** The media type of a successful answer that the caller can read; null: none is needed. */
  readonly accepts: string | null
}

function drawnCall(operation: PlannedOperation, random: Random): Call {
  const { method, path, parameters, body, answers, security } = operation
  const chosen = parameters.filter(({ isRequired }) => isRequired || random.chance(0.5))
  const given = chosen.map(({ name, place, kind }) => ({ name, place, text: random.pick(TEXTS[kind]) }))
  const value = (name: string): string => given.find((one) => one.place === 'path' && one.name === name)?.text ?? ''
  const sendsBody = body !== null && (body.isRequired || random.chance(0.5))
  const readable = answers
    .filter(({ status }) => status.startsWith('2'))
    .flatMap(({ media }) => media.map(({ name }) => name))
  return {
    method,
    path: path.replaceAll(/\{(\w+)\}/g, (_, name: string) => value(name)),
    given: given.filter(({ place }) => place !== 'path'),
    body: sendsBody ? drawnBody(random.pick(body.media), random) : null,
    credentials: security.length === 0 ? {} : random.pick(security),
    accepts: readable.length === 0 ? null : random.pick(readable),
  }
}

function drawnBody({ name, member, isRequired }: Media, random: Random): Body {
  return { media: name, member: isRequired || random.chance(0.5) ? random.pick(VALUES[member]) : undefined }
}

/** The operation that a call reaches: fixed segments before variables (OpenAPI 3.1.0 §4.8.8.2). Undefined: none. */
function reached(plan: Plan, { method, path }: Call): PlannedOperation | undefined {
  const segments = path.split('/')
  const takes = (template: string): boolean => {
    const parts = template.split('/')
    return parts.length === segments.length && parts.every((part, at) => part.startsWith('{') || part === segments[at])
  }
  const paths = [...new Set(plan.map((one) => one.path))].filter(takes)
  const [best] = paths.toSorted((a, b) => variablesOf(a).length - variablesOf(b).length)
  return plan.find((one) => one.path === best && one.method === method)
}

/** Why a server of the plan refuses a call; null: it serves it. Parameters that it does not describe are ignored. */
function refusal(plan: Plan, call: Call): string | null {
  const operation = reached(plan, call)
  if (operation === undefined) return 'no operation'
  const segments = call.path.split('/')
  const inPath = operation.path
    .split('/')
    .flatMap((part, at) =>
      part.startsWith('{') ? [{ name: part.slice(1, -1), place: 'path' as const, text: segments[at] ?? '' }] : [],
    )
  const given = [...call.given, ...inPath]
  for (const { name, place, kind, isRequired } of operation.parameters) {
    const one = given.find((other) => other.name === name && other.place === place)
    if (one === undefined && isRequired) return `${place} ${name} is missing`
    if (one !== undefined && !admitsText(kind, one.text)) return `${place} ${name} is no ${kind}`
  }
  return bodyRefusal(operation, call) ?? credentialsRefusal(operation, call) ?? acceptRefusal(operation, call)
}

function bodyRefusal({ body }: PlannedOperation, call: Call): string | null {
  if (body === null) return null
  if (call.body === null) return body.isRequired ? 'the body is missing' : null
  const { media, member } = call.body
  const taken = body.media.find(({ name }) => name === media)
  if (taken === undefined) return `no body of ${media}`
  if (media !== 'application/json') return null
  if (member === undefined) return taken.isRequired ? 'f is missing' : null
  return admits(taken.member, member) ? null : `f is no ${taken.member}`
}

function credentialsRefusal({ security }: PlannedOperation, { credentials }: Call): string | null {
  const isEnough = (needed: Credentials): boolean =>
    Object.entries(needed).every(([scheme, scopes]) => {
      const held = credentials[scheme]
      return held !== undefined && scopes.every((scope) => held.includes(scope))
    })
  return security.length === 0 || security.some(isEnough) ? null : 'the credentials do not suffice'
}

function acceptRefusal({ answers }: PlannedOperation, { accepts }: Call): string | null {
  const successes = answers.filter(({ status }) => status.startsWith('2'))
  if (accepts === null || successes.length === 0) return null
  return successes.some(({ media }) => media.some(({ name }) => name === accepts)) ? null : `no answer of ${accepts}`
}

/** An answer that the head may give, and that the base rules out; null: there is none. Statuses are compared where both have them. */
function unreadable(base: PlannedOperation, head: PlannedOperation): string | null {
  for (const after of head.answers) {
    const before = base.answers.find(({ status }) => status === after.status)
    const why = before === undefined ? null : answerFault(before, after)
    if (why !== null) return `${after.status}: ${why}`
  }
  return null
}

function answerFault(before: Answer, after: Answer): string | null {
  for (const { name, isRequired } of before.headers)
    if (isRequired && !after.headers.some((other) => other.name === name && other.isRequired)) return `without ${name}`
  if (before.media.length === 0) return null
  if (after.media.length === 0) return 'without a body'
  const named = after.media.map((media) => [before.media.find(({ name }) => name === media.name), media] as const)
  // Readers ask for a media type that they know, where there is one.
  if (named.every(([known]) => known === undefined)) return 'a body of other media types'
  for (const [known, media] of named) {
    if (known === undefined || media.name !== 'application/json') continue
    if (known.isRequired && !media.isRequired) return 'without f'
    if (VALUES[media.member].some((value) => !admits(known.member, value))) return `f is ${media.member}`
  }
  return null
}

function proofOf(base: Plan, head: Plan, random: Random): string | null {
  for (const operation of base)
    for (let tries = 0; tries < 12; tries += 1) {
      const call = drawnCall(operation, random)
      // Another operation of the base takes calls whose values are its fixed segments.
      if (reached(base, call) !== operation) continue
      const why = refusal(head, call)
      if (why !== null) return `${JSON.stringify(call)}: ${why}`
    }
  for (const operation of base) {
    const after = head.find(({ method, path }) => method === operation.method && path === operation.path)
    const why = after === undefined ? null : unreadable(operation, after)
    if (why !== null) return `${operation.method} ${operation.path} answers ${why}`
  }
  return null
}

function found(before: string, after: string): readonly string[] {
  const result = compare({ id: 'planned', type: 'openapi', before, after }, {}, sha256)
  assert.ok(result.ok, result.ok ? '' : result.problem.message)
  return result.value.groups.map(({ level, rule, location }) => `${level} ${rule} ${location}`)
}

test(`${PAIRS} pairs: a proven break is breaking or dangerous`, () => {
  let proven = 0
  const missed: string[] = []
  for (let index = 0; index < PAIRS; index += 1) {
    const random = new Random(SEED, index)
    const base = drawnPlan(random)
    const { plan: head, edits } = editedPlan(base, random)
    if (head.length === 0) continue
    const proof = proofOf(base, head, random)
    if (proof === null) continue
    proven += 1
    const [before, after] = [writtenPlan(base, random), writtenPlan(head, random)]
    const findings = found(before, after)
    if (findings.some((finding) => !finding.startsWith('info'))) continue
    missed.push([`index ${index}: ${edits.join(', ')}`, proof, before, after, ...findings].join('\n  '))
  }
  assert.deepEqual(missed.slice(0, 5), [], `${missed.length} of ${proven} are missed`)
  assert.ok(proven > PAIRS / 3, `only ${proven} are proven`)
})

test(`${PAIRS} pairs: the same interface in another writing is no change`, () => {
  const changed: string[] = []
  for (let index = 0; index < PAIRS; index += 1) {
    const random = new Random(SEED + 1, index)
    const plan = drawnPlan(random)
    const [before, after] = [writtenPlan(plan, random), writtenPlan(plan, random)]
    const findings = found(before, after).filter((finding) => !finding.startsWith('info'))
    if (findings.length > 0) changed.push([`index ${index}`, before, after, ...findings].join('\n  '))
  }
  assert.deepEqual(changed.slice(0, 5), [], `${changed.length} changed`)
})

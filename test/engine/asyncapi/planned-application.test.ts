/**
 * Applications at random, with one edit each, written as AsyncAPI 2.6 or 3.0. Two things are a proof: a message of others that
 * the head refuses, and a message of the head that the base rules out. A breaking or dangerous change must then be reported.
 * An application that is only written otherwise has no change of meaning.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { compare } from '../../../engine/formats/compare.ts'
import { sha256 } from '../../conformance/openapi-run.ts'
import { Random } from '../../soundness/random.ts'

const PAIRS = Number(process.env['PAIRS'] ?? 800)
const SEED = Number(process.env['SEED'] ?? 1)

type Json = Readonly<Record<string, unknown>>
type Kind = 'text' | 'whole' | 'flag' | 'listed'

const SCHEMAS: Readonly<Record<Kind, Json>> = {
  text: { type: 'string' },
  whole: { type: 'integer' },
  flag: { type: 'boolean' },
  listed: { type: 'string', enum: ['x', 'y'] },
}
const KINDS = ['text', 'whole', 'flag', 'listed'] as const
const VALUES: Readonly<Record<Kind, readonly unknown[]>> = {
  text: ['x', 'y', 'other'],
  whole: [7],
  flag: [true],
  listed: ['x', 'y'],
}

/** The member `f` of the payload or of the headers. */
interface Member {
  readonly kind: Kind
  readonly isRequired: boolean
}

interface Message {
  readonly name: string
  readonly payload: Member
  readonly headers: Member | null
}

interface Operation {
  readonly address: string
  readonly action: 'send' | 'receive'
  readonly messages: readonly Message[]
}

type Plan = readonly Operation[]

const ADDRESSES = ['a', 'b/c', 'd'] as const

function drawnMember(random: Random): Member {
  return { kind: random.pick(KINDS), isRequired: random.chance(0.5) }
}

function drawnMessage(name: string, random: Random): Message {
  return { name, payload: drawnMember(random), headers: random.chance(0.4) ? drawnMember(random) : null }
}

function drawnOperation(address: string, action: Operation['action'], random: Random): Operation {
  return { address, action, messages: random.some(['M', 'N', 'O'], 1, 2).map((name) => drawnMessage(name, random)) }
}

function drawnPlan(random: Random): Plan {
  return random
    .some(ADDRESSES, 1, 3)
    .flatMap((address) =>
      random.some(['send', 'receive'] as const, 1, 2).map((action) => drawnOperation(address, action, random)),
    )
}

const at = <T>(list: readonly T[], index: number, change: (one: T) => T): readonly T[] =>
  list.map((one, place) => (place === index ? change(one) : one))

/** A plan with one change. */
function edited(plan: Plan, random: Random): Plan {
  const index = random.below(plan.length)
  const inMessage = (change: (message: Message) => Message): Plan =>
    at(plan, index, (one) => ({ ...one, messages: at(one.messages, random.below(one.messages.length), change) }))
  return random.pick([
    () => inMessage((message) => ({ ...message, payload: drawnMember(random) })),
    () => inMessage(({ payload, ...rest }) => ({ ...rest, payload: { ...payload, isRequired: !payload.isRequired } })),
    () => inMessage((message) => ({ ...message, headers: random.chance(0.3) ? null : drawnMember(random) })),
    () => at(plan, index, (one) => ({ ...one, messages: [...one.messages, drawnMessage('P', random)] })),
    () =>
      at(plan, index, (one) => ({ ...one, messages: one.messages.length > 1 ? one.messages.slice(1) : one.messages })),
    () => (plan.length > 1 ? plan.filter((_, place) => place !== index) : plan),
    () => [...plan, drawnOperation('e', random.pick(['send', 'receive'] as const), random)],
    () => at(plan, index, (one) => ({ ...one, address: 'moved' })),
  ])()
}

class Writing {
  readonly #random: Random
  readonly #held: Record<'messages' | 'schemas', Record<string, unknown>> = { messages: {}, schemas: {} }

  constructor(random: Random) {
    this.#random = random
  }

  document(plan: Plan): string {
    const isNew = this.#random.chance(0.5)
    const parts = isNew ? this.#three(plan) : this.#two(plan)
    return JSON.stringify({
      asyncapi: isNew ? '3.0.0' : '2.6.0',
      info: { title: 't', version: '1.0.0' },
      ...parts,
      components: this.#held,
    })
  }

  #two(plan: Plan): Json {
    const channels = this.#random.shuffled([...Map.groupBy(plan, ({ address }) => address)])
    return {
      channels: Object.fromEntries(
        channels.map(([address, operations]) => [
          address,
          Object.fromEntries(
            // Others publish what the application receives.
            operations.map(({ action, messages }) => [
              action === 'receive' ? 'publish' : 'subscribe',
              { message: this.#choice(messages) },
            ]),
          ),
        ]),
      ),
    }
  }

  #choice(messages: readonly Message[]): unknown {
    const written = this.#random.shuffled(messages).map((message) => this.#message(message))
    return written.length === 1 && this.#random.chance(0.5) ? written[0] : { oneOf: written }
  }

  #three(plan: Plan): Json {
    const channels: Record<string, unknown> = {}
    const operations: Record<string, unknown> = {}
    for (const [address, held] of this.#random.shuffled([...Map.groupBy(plan, (one) => one.address)])) {
      const channel = `channel${Object.keys(channels).length}`
      const messages: Record<string, unknown> = {}
      for (const { action, messages: own } of held) {
        const references = own.map((message) => {
          const key = `${action}${message.name}`
          messages[key] = this.#message(message)
          return { $ref: `#/channels/${channel}/messages/${key}` }
        })
        operations[`${channel}${action}`] = {
          action,
          channel: { $ref: `#/channels/${channel}` },
          messages: this.#random.shuffled(references),
        }
      }
      channels[channel] = { address, messages }
    }
    return { channels, operations }
  }

  #message({ name, payload, headers }: Message): unknown {
    return this.#kept('messages', {
      name,
      payload: this.#object(payload),
      ...(headers !== null && { headers: this.#object(headers) }),
    })
  }

  #object({ kind, isRequired }: Member): unknown {
    const schema = this.#kept('schemas', SCHEMAS[kind])
    return this.#kept('schemas', { type: 'object', properties: { f: schema }, ...(isRequired && { required: ['f'] }) })
  }

  #kept(where: 'messages' | 'schemas', value: Json): unknown {
    const held = this.#held[where]
    if (this.#random.chance(0.6)) return Object.fromEntries(this.#random.shuffled(Object.entries(value)))
    const name = `n${Object.keys(held).length}`
    held[name] = value
    return { $ref: `#/components/${where}/${name}` }
  }
}

function admits({ kind, isRequired }: Member, value: unknown): boolean {
  if (value === undefined) return !isRequired
  return kind === 'text' ? typeof value === 'string' : VALUES[kind].includes(value)
}

function isWithin(part: Member, whole: Member): boolean {
  const values = [...VALUES[part.kind], ...(part.isRequired ? [] : [undefined])]
  return values.every((value) => admits(whole, value))
}

/** Headers that a side does not describe may be anything. */
function isMessageWithin(part: Message, whole: Message): boolean {
  if (!isWithin(part.payload, whole.payload)) return false
  if (whole.headers === null) return true
  return part.headers === null ? !whole.headers.isRequired : isWithin(part.headers, whole.headers)
}

/** A message that one side describes and the other does not take, by its name; null: there is none. */
function strayMessage(given: readonly Message[], taken: readonly Message[]): string | null {
  for (const message of given) {
    const partner = taken.find(({ name }) => name === message.name)
    if (partner === undefined || !isMessageWithin(message, partner)) return message.name
  }
  return null
}

function proofOf(base: Plan, head: Plan): string | null {
  for (const before of base) {
    const after = head.find(({ address, action }) => address === before.address && action === before.action)
    if (after === undefined) return `${before.action} ${before.address} is gone`
    const [given, taken] = before.action === 'receive' ? [before, after] : [after, before]
    const stray = strayMessage(given.messages, taken.messages)
    if (stray !== null) return `${before.action} ${before.address}: ${stray}`
  }
  return null
}

function found(before: string, after: string): readonly string[] {
  const result = compare({ id: 'planned', type: 'asyncapi', before, after }, {}, sha256)
  assert.ok(result.ok, result.ok ? '' : `${result.problem.message}\n${before}\n${after}`)
  return result.value.groups.map(({ level, rule, location, message }) => `${level} ${rule} ${location} ${message}`)
}

test(`${PAIRS} pairs: a proven break is breaking or dangerous`, () => {
  let proven = 0
  const missed: string[] = []
  for (let index = 0; index < PAIRS; index += 1) {
    const random = new Random(SEED, index)
    const base = drawnPlan(random)
    const head = edited(base, random)
    const proof = proofOf(base, head)
    if (proof === null) continue
    proven += 1
    const [before, after] = [new Writing(random).document(base), new Writing(random).document(head)]
    const findings = found(before, after)
    if (findings.some((finding) => !finding.startsWith('info'))) continue
    missed.push([`index ${index}: ${proof}`, before, after, ...findings].join('\n  '))
  }
  assert.deepEqual(missed.slice(0, 5), [], `${missed.length} of ${proven} are missed`)
  assert.ok(proven > PAIRS / 3, `only ${proven} are proven`)
})

test(`${PAIRS} pairs: the same application in another writing is no change`, () => {
  const changed: string[] = []
  for (let index = 0; index < PAIRS; index += 1) {
    const random = new Random(SEED + 1, index)
    const plan = drawnPlan(random)
    const [before, after] = [new Writing(random).document(plan), new Writing(random).document(plan)]
    const findings = found(before, after).filter((finding) => !finding.startsWith('info'))
    if (findings.length > 0) changed.push([`index ${index}`, before, after, ...findings].join('\n  '))
  }
  assert.deepEqual(changed.slice(0, 5), [], `${changed.length} changed`)
})

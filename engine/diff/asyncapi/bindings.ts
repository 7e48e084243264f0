/** Compares bindings setting by setting. The table of the protocol gives the meaning of each setting. */
import { byCodeUnit } from '../../common/code-unit-order.ts'
import { canonicalJson } from '../../common/hash.ts'
import type { AsyncAction } from '../../contracts/asyncapi/contract.ts'
import { unstatedLanguage } from '../../contracts/asyncapi/messages.ts'
import { isSameContent } from './content.ts'
import { CHANNEL_ADDRESS, settingOf, type SettingKind } from './binding-settings.ts'
import type { AsyncApiRuleId } from '../../rules/asyncapi/rows.ts'
import { RECEIVED_HEADERS, RECEIVED_PAYLOAD, SENT_HEADERS, SENT_PAYLOAD, type SitePair } from '../../schema/sites.ts'
import { isEqual } from '../../schema/equality.ts'
import { Pairs } from '../../schema/inclusion/pair-map.ts'
import { isRecord, memberOf, recordOf, stepInto, type JsonRecord, type Located } from '../../schema/located.ts'
import { type AsyncWalk, followed, memberIn } from './walk.ts'
import { keysOfBoth } from '../match.ts'

/** The bindings of one object on both sides. */
interface BindingPair {
  readonly before: Located | null
  readonly after: Located | null
  /** The owner of the bindings, as text. */
  readonly of: string
  /** `send` or `receive` for an operation and its messages. Clients supply what servers and channels require. */
  readonly action: AsyncAction
  readonly endpoint: string
  /** The address of the channel that has the bindings. */
  readonly address?: string
}

export function compareBindings(walk: AsyncWalk, pair: BindingPair): void {
  for (const protocol of keysOfBoth(protocolsIn(pair.before), protocolsIn(pair.after))) {
    const before = followed(memberIn(pair.before, protocol), walk.base)
    const after = followed(memberIn(pair.after, protocol), walk.head)
    if (isSameContent(withoutVersion(before), withoutVersion(after), walk)) continue
    if ((before === null || after === null) && statesDefaults(before ?? after, protocol, pair)) continue
    if (isRecord(before?.value) && isRecord(after?.value)) {
      const both = { before: { ...before, value: before.value }, after: { ...after, value: after.value } }
      new BindingComparison(walk, pair, protocol, both).compare()
      continue
    }
    reportWhole(walk, `${pair.of} ${protocol}`, protocol, { before, after })
    // The schema has the same rules whether its binding existed before or not.
    const there = [before, after].find((one) => isRecord(one?.value))
    if ((before !== null && after !== null) || there === undefined || there === null) continue
    const [base, head] = [before ?? there, after ?? there].map((one) => ({ ...one, value: recordOf(one.value) }))
    if (base === undefined || head === undefined) continue
    const both = {
      before: before === null ? { ...base, value: {} } : base,
      after: after === null ? { ...head, value: {} } : head,
    }
    new BindingComparison(walk, pair, protocol, both).compareSchemas()
  }
}

/** Whether a binding only states what is so without it. */
function statesDefaults(binding: Located | null, protocol: string, { address }: BindingPair): boolean {
  const settings = Object.entries(recordOf(bindingSettings(binding)))
  return settings.length > 0 && settings.every(([name, value]) => isEqual(value, fallbackOf(protocol, [name], address)))
}

/** The default of a setting. The topic of a channel is its address. */
function fallbackOf(protocol: string, steps: readonly string[], address: string | undefined): unknown {
  const fallback = settingOf(protocol, steps)?.fallback ?? null
  return fallback === CHANNEL_ADDRESS ? (address ?? null) : fallback
}

/** Reports a binding that one side does not have. Only the name of each setting is known. */
function reportWhole(
  walk: AsyncWalk,
  subject: string,
  name: string,
  { before, after }: Pick<BindingPair, 'before' | 'after'>,
): void {
  const located = after ?? before
  if (located === null) return
  const values = { before: bindingSettings(before), after: bindingSettings(after) }
  const side = after === null ? 'base' : 'head'
  walk.add({ rule: 'asyncapi-binding-changed', subject, name, side, located, ...values })
}

type LocatedRecord = Located & { readonly value: JsonRecord }

/** Rules of the kinds that report only that a value changed. */
const CHANGED: Readonly<Record<Exclude<SettingKind, 'schema' | 'limit'>, AsyncApiRuleId>> = {
  destination: 'asyncapi-binding-destination-changed',
  declaration: 'asyncapi-binding-declaration-changed',
  encoding: 'asyncapi-binding-encoding-changed',
  delivery: 'asyncapi-binding-delivery-changed',
  upkeep: 'asyncapi-binding-upkeep-changed',
}

/**
 * For these kinds an added or removed setting may not change behaviour: destinations and encodings may have been in
 * force before.
 */
const KNOWN_BY_VALUE: ReadonlySet<SettingKind> = new Set(['destination', 'declaration', 'encoding'])

class BindingComparison {
  readonly #walk: AsyncWalk
  readonly #pair: BindingPair
  readonly #protocol: string
  readonly #both: { readonly before: LocatedRecord; readonly after: LocatedRecord }
  readonly #compared = new Pairs<object, true>()

  constructor(
    walk: AsyncWalk,
    pair: BindingPair,
    protocol: string,
    both: { readonly before: LocatedRecord; readonly after: LocatedRecord },
  ) {
    this.#walk = walk
    this.#pair = pair
    this.#protocol = protocol
    this.#both = both
  }

  compare(): void {
    this.#members([], this.#both.before, this.#both.after)
  }

  compareSchemas(): void {
    const { before, after } = this.#both
    for (const name of keysOfBoth(Object.keys(before.value), Object.keys(after.value))) {
      if (settingOf(this.#protocol, [name])?.kind !== 'schema') continue
      this.#schema([name], memberOf(before, name), memberOf(after, name))
    }
  }

  /** References may lead back to a holder of them. */
  #members(steps: readonly string[], before: LocatedRecord, after: LocatedRecord): void {
    if (this.#compared.get(before.value, after.value) === true) return
    this.#compared.set(before.value, after.value, true)
    for (const name of keysOfBoth(Object.keys(before.value), Object.keys(after.value))) {
      // The version of the binding language has no effect on delivery.
      if (steps.length === 0 && name === 'bindingVersion') continue
      this.#setting([...steps, name], memberOf(before, name), memberOf(after, name))
    }
  }

  #setting(steps: readonly string[], held: Located | null, head: Located | null): void {
    if (isSameContent(held, head, this.#walk)) return
    const [before, after] = [followed(held, this.#walk.base), followed(head, this.#walk.head)]
    const setting = settingOf(this.#protocol, steps)
    if (setting?.kind === 'schema' && statesNoLanguage(before) && statesNoLanguage(after))
      this.#schema(steps, before, after)
    else if (isHolder(before) && isHolder(after)) this.#members(steps, withRecordValue(before), withRecordValue(after))
    else this.#value(steps, before, after, setting?.kind ?? null)
  }

  #value(steps: readonly string[], held: Located | null, head: Located | null, kind: SettingKind | null): void {
    const fallback = settingOf(this.#protocol, steps)?.fallback ?? null
    const address = fallbackOf(this.#protocol, steps, this.#pair.address)
    const isOtherOrder = !isEqual(held?.value ?? null, head?.value ?? null)
    if (isOtherOrder && isEqual(sortedSet(held?.value ?? address), sortedSet(head?.value ?? address))) return
    // Another topic than the address may have been in force before it was named.
    const stated = fallback === CHANNEL_ADDRESS ? null : fallback
    const [before, after] = [held?.value ?? stated, head?.value ?? stated]
    const rule = settingRule(kind, before, after)
    const located = head ?? held
    if (located === null) return
    const isWhole = rule === 'asyncapi-binding-changed'
    const name = isWhole ? this.#protocol : `${this.#protocol} ${steps.join('.')}`
    const subject = `${this.#pair.of} ${this.#protocol} ${steps.join('.')}`
    this.#walk.add({ rule, subject, name, side: head === null ? 'base' : 'head', located, before, after })
  }

  /** Judged as the content of a sent or received message. An absent schema admits anything. */
  #schema(steps: readonly string[], before: Located | null, after: Located | null): void {
    const { of, action, endpoint } = this.#pair
    const { before: base, after: head } = this.#both
    const pair = this.#walk.schemas.compare(before ?? anything(base, steps), after ?? anything(head, steps))
    const use = { sites: sitesOf(steps, action), mediaType: 'application/json' }
    const where = `${of}, ${this.#protocol} ${steps.join('.')}`
    this.#walk.uses.push({ pair, use, where, endpoint })
  }
}

/** Kafka keys may be described in Avro. */
function statesNoLanguage(located: Located | null): boolean {
  return located === null || unstatedLanguage(located.value) === null
}

/** The lists of the binding specifications are sets: topics, policies, regions. */
function sortedSet(value: unknown): unknown {
  return Array.isArray(value) ? value.map((item: unknown) => canonicalJson(item)).sort(byCodeUnit) : value
}

function settingRule(kind: SettingKind | null, before: unknown, after: unknown): AsyncApiRuleId {
  if (kind === null || kind === 'schema') return 'asyncapi-binding-changed'
  if (kind === 'limit') return limitRule(before, after)
  const isOpen = before === null || after === null
  return isOpen && KNOWN_BY_VALUE.has(kind) ? 'asyncapi-binding-changed' : CHANGED[kind]
}

/** No limit admits every value. Brokers write -1 for no limit. */
function limitRule(before: unknown, after: unknown): AsyncApiRuleId {
  const [base, head] = [limitOf(before), limitOf(after)]
  if (base === null || head === null) return 'asyncapi-binding-delivery-changed'
  return head < base ? 'asyncapi-binding-limit-lowered' : 'asyncapi-binding-limit-raised'
}

/** Some protocols write the limit as text: a duration in seconds with its unit. */
function limitOf(value: unknown): number | null {
  if (value === null || value === -1) return Number.POSITIVE_INFINITY
  if (typeof value === 'string' && /^\d+(?:\.\d+)?s?$/.test(value)) return Number.parseFloat(value)
  return typeof value === 'number' ? value : null
}

function sitesOf(steps: readonly string[], action: AsyncAction): SitePair {
  const isHeaders = steps.at(-1) === 'headers'
  if (action === 'send') return isHeaders ? SENT_HEADERS : SENT_PAYLOAD
  return isHeaders ? RECEIVED_HEADERS : RECEIVED_PAYLOAD
}

function anything({ at, document }: Located, steps: readonly string[]): Located {
  return { value: {}, at: steps.reduce(stepInto, at), document }
}

/** An object, or a list of objects: its parts are reported one by one. */
function isHolder(located: Located | null): located is Located {
  const value: unknown = located?.value
  return isRecord(value) || (Array.isArray(value) && value.length > 0 && value.every((item) => isRecord(item)))
}

/** The items of a list by index. */
function withRecordValue(located: Located): LocatedRecord {
  const { value } = located
  const entries: readonly unknown[] = Array.isArray(value) ? value : []
  return { ...located, value: isRecord(value) ? value : Object.fromEntries(entries.entries()) }
}

function withoutVersion(binding: Located | null): Located | null {
  return binding === null ? null : { ...binding, value: bindingSettings(binding) }
}

function bindingSettings(binding: Located | null): unknown {
  const value: unknown = binding?.value ?? null
  if (!isRecord(value)) return value
  const { bindingVersion: _, ...settings } = value
  return settings
}

function protocolsIn(bindings: Located | null): readonly string[] {
  return Object.keys(recordOf(bindings?.value))
}

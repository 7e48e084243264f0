/** Compares bindings setting by setting. The table of the protocol gives the meaning of each setting. */
import type { AsyncAction } from '../../contracts/asyncapi/contract.ts'
import { unstatedLanguage } from '../../contracts/asyncapi/messages.ts'
import { isSameContent } from './content.ts'
import { CHANNEL_ADDRESS, NO_LIMIT } from './binding-defaults.ts'
import { settingOf, type BindingSetting, type SettingKind } from './binding-settings.ts'
import { isHolder, limitOf, sideBySide, sortedSet, withoutTexts, type LocatedRecord } from './binding-values.ts'
import type { AsyncApiRuleId } from '../../rules/asyncapi/rows.ts'
import { RECEIVED_HEADERS, RECEIVED_PAYLOAD, SENT_HEADERS, SENT_PAYLOAD, type SitePair } from '../../schema/sites.ts'
import { isEqual } from '../../schema/equality.ts'
import { Pairs } from '../../schema/inclusion/pair-map.ts'
import { isRecord, memberOf, recordOf, stepInto, type Located } from '../../schema/located.ts'
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
  return settings.every(([name, value]) =>
    isDefault(value, fallbackOf(protocol, [name], address), settingOf(protocol, [name])),
  )
}

function isDefault(value: unknown, fallback: unknown, setting: BindingSetting | null): boolean {
  if (fallback === NO_LIMIT) return limitOf(value, setting?.unlimited) === Number.POSITIVE_INFINITY
  return isEqual(value, fallback)
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

/** Rules of the kinds that report only that a value changed. */
const CHANGED: Readonly<Record<Exclude<SettingKind, 'schema' | 'limit' | 'channel'>, AsyncApiRuleId>> = {
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
    else if (setting?.kind === 'channel') this.#channel(steps, addressOf(before), addressOf(after), setting)
    else if (setting?.isDescribed === true && [before, after].some((one) => isRecord(one?.value))) {
      if (!isEqual(withoutTexts(before?.value), withoutTexts(after?.value))) this.#value(steps, before, after, setting)
    } else if (isHolder(before) && isHolder(after)) this.#members(steps, ...sideBySide(before, after))
    else this.#value(steps, before, after, setting)
  }

  #channel(steps: readonly string[], before: Located | null, after: Located | null, setting: BindingSetting): void {
    if (!isEqual(before?.value ?? null, after?.value ?? null)) this.#value(steps, before, after, setting)
  }

  #value(steps: readonly string[], held: Located | null, head: Located | null, setting: BindingSetting | null): void {
    const address = fallbackOf(this.#protocol, steps, this.#pair.address)
    const isOtherOrder = !isEqual(held?.value ?? null, head?.value ?? null)
    if (isOtherOrder && isEqual(sortedSet(held?.value ?? address), sortedSet(head?.value ?? address))) return
    // Another topic than the address may have been in force before it was named.
    const stated = typeof setting?.fallback === 'symbol' ? null : (setting?.fallback ?? null)
    const [before, after] = [held?.value ?? stated, head?.value ?? stated]
    const rule = settingRule(setting, before, after)
    const located = head ?? held
    if (located === null || rule === null) return
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

/** The channel that a reference leads to, by its address. */
function addressOf(channel: Located | null): Located | null {
  const stated = channel === null ? null : memberOf(channel, 'address')
  return stated ?? channel
}

/** Null: both sides state the same limit. */
function settingRule(setting: BindingSetting | null, before: unknown, after: unknown): AsyncApiRuleId | null {
  const kind = setting?.kind === 'channel' ? 'destination' : (setting?.kind ?? null)
  if (setting === null || kind === null || kind === 'schema') return 'asyncapi-binding-changed'
  if (kind === 'limit') return limitRule(setting, before, after)
  const isOpen = before === null || after === null
  return isOpen && KNOWN_BY_VALUE.has(kind) ? 'asyncapi-binding-changed' : CHANGED[kind]
}

/** Without a limit, what is in force is the default of the protocol, or what the broker is set to. */
function limitRule({ fallback, unlimited }: BindingSetting, before: unknown, after: unknown): AsyncApiRuleId | null {
  const numberOf = (value: unknown): number | null =>
    value === null && fallback === NO_LIMIT ? Number.POSITIVE_INFINITY : limitOf(value, unlimited)
  const [base, head] = [numberOf(before), numberOf(after)]
  if (base === null || head === null) return 'asyncapi-binding-delivery-changed'
  if (base === head) return null
  return head < base ? 'asyncapi-binding-limit-lowered' : 'asyncapi-binding-limit-raised'
}

function sitesOf(steps: readonly string[], action: AsyncAction): SitePair {
  const isHeaders = steps.at(-1) === 'headers'
  if (action === 'send') return isHeaders ? SENT_HEADERS : SENT_PAYLOAD
  return isHeaders ? RECEIVED_HEADERS : RECEIVED_PAYLOAD
}

function anything({ at, document }: Located, steps: readonly string[]): Located {
  return { value: {}, at: steps.reduce(stepInto, at), document }
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

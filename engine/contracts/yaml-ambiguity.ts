/**
 * Finds values that YAML 1.1 (Go, Python, Ruby) and YAML 1.2 read differently. `yes` is true or a string, `010` is
 * eight or ten, and a merge key after another key may replace it. The judged values must be those that other programs
 * read.
 */
import { EVENT_ID, getScalarValue, SCALAR_STYLE_PLAIN } from 'js-yaml'
import type { ParsedYaml, YamlEvents } from './yaml-layout.ts'

interface Ambiguity {
  /** As a part of a sentence. */
  readonly what: string
  /** Offset in the text as it was given. */
  readonly offset: number
}

const WORD = /^(?:y|Y|yes|Yes|YES|n|N|no|No|NO|on|On|ON|off|Off|OFF)$/
/** Octals, binaries, underscores, sexagesimals. */
const NUMBER =
  /^[-+]?(?:0[0-9_]+|0[oO][0-7_]+|0[bB][01_]+|0[xX][0-9a-fA-F_]+|[0-9][0-9_]*_[0-9_]*(?:\.[0-9_]*)?(?:[eE][-+]?[0-9]+)?|[1-9][0-9_]*(?::[0-5]?[0-9])+(?:\.[0-9_]*)?)$/
/** Numbers that JSON writes differently, so that some readers take them for strings. */
const UNUSUAL =
  /^\+[0-9.][0-9.eE+-]*$|^-?\.[0-9]+(?:[eE][-+]?[0-9]+)?$|^-?[0-9]+\.(?:[eE][-+]?[0-9]+)?$|^[-+]?\.(?:inf|Inf|INF)$|^\.(?:nan|NaN|NAN)$/
const JSON_NUMBER = /^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?$/
const KEYWORD = /^(?:true|True|TRUE|false|False|FALSE|null|Null|NULL|~|)$/
/** Members of contracts that are boolean or numeric. Elsewhere a plain scalar is read as a string. */
const TYPED_MEMBERS: ReadonlySet<string> = new Set([
  'ack',
  'additionalItems',
  'additionalProperties',
  'allowEmptyValue',
  'allowReserved',
  'attribute',
  'autoDelete',
  'cleanSession',
  'deprecated',
  'destructiveHint',
  'durable',
  'exclusive',
  'exclusiveMaximum',
  'exclusiveMinimum',
  'expiration',
  'explode',
  'idempotentHint',
  'items',
  'mandatory',
  'maxContains',
  'maximum',
  'maxItems',
  'maxLength',
  'maxProperties',
  'minContains',
  'minimum',
  'minItems',
  'minLength',
  'minProperties',
  'multipleOf',
  'not',
  'nullable',
  'openWorldHint',
  'partitions',
  'preserveUnknownFields',
  'priority',
  'qos',
  'readOnly',
  'readOnlyHint',
  'replicas',
  'required',
  'retain',
  'served',
  'storage',
  'strict',
  'timeout',
  'unevaluatedItems',
  'unevaluatedProperties',
  'uniqueItems',
  'wrapped',
  'writeOnly',
  'x-kubernetes-embedded-resource',
  'x-kubernetes-int-or-string',
  'x-kubernetes-preserve-unknown-fields',
])

type Scalar = Extract<YamlEvents[number], { readonly type: typeof EVENT_ID.SCALAR }>

/** A node within its container. */
interface YamlSlot {
  readonly event: YamlEvents[number]
  readonly isKey: boolean
  /** Key of the value; null for items and keys. */
  readonly key: string | null
  /** A key, or an alias of keys, that would replace one before the surrounding merge key. */
  readonly replaces: boolean
}

/** The first place of a contract where the YAML versions differ in a value that matters, or null. */
export function contractAmbiguity(parsed: ParsedYaml): Ambiguity | null {
  return firstPlace(parsed, ({ event, isKey, key, replaces }) => {
    if (replaces) return MERGE_BEHIND
    if (event.type !== EVENT_ID.SCALAR || !isPlainScalar(event)) return null
    const text = keyText(parsed, event)
    if (isKey || key === null || !TYPED_MEMBERS.has(key) || !(WORD.test(text) || NUMBER.test(text))) return null
    return `the plain ${text} of ${key} is read in two ways, by YAML 1.1 and by YAML 1.2`
  })
}

const MERGE_BEHIND = 'a merge key (<<) stands behind a key that it holds too, and some readers let it replace that one'

/** The same for an object that another program stores: no merge keys, no tags, no ambiguous key or value. */
export function objectAmbiguity(parsed: ParsedYaml): Ambiguity | null {
  return firstPlace(parsed, ({ event, isKey }) => {
    if ('tagStart' in event && event.tagStart !== -1) return 'it has a tag (!)'
    if (event.type === EVENT_ID.ALIAS) return isKey ? 'an alias stands for a key' : null
    if (isKey && event.type !== EVENT_ID.SCALAR) return 'a key is not a text'
    if (event.type !== EVENT_ID.SCALAR || !isPlainScalar(event)) return null
    const text = keyText(parsed, event)
    if (isKey && text === '<<') return 'it has a merge key (<<)'
    if (isKey && (KEYWORD.test(text) || JSON_NUMBER.test(text)))
      return `the plain key ${text || '(empty)'} is not a text to all readers`
    const isTwofold = WORD.test(text) || text === '=' || NUMBER.test(text) || UNUSUAL.test(text)
    return isTwofold ? `the plain ${text} is read in two ways, by YAML 1.1 and by YAML 1.2` : null
  })
}

function isPlainScalar({ style, tagStart }: Scalar): boolean {
  return style === SCALAR_STYLE_PLAIN && tagStart === -1
}

/** Longer texts are never ambiguous. */
const LONGEST = 64

function keyText({ source }: ParsedYaml, event: Scalar): string {
  if (event.valueStart === -1) return ''
  return event.valueEnd - event.valueStart > LONGEST ? 'text' : getScalarValue(source, event)
}

interface OpenContainer {
  readonly isMapping: boolean
  isKeyNext: boolean
  key: string | null
  readonly keys: Set<string>
  /** Keys before the merge key that this value belongs to. Null if it is not merged. */
  readonly merged: ReadonlySet<string> | null
}

/** The keys that the next value must not contain if it is merged. */
function mergedInto(around: OpenContainer | undefined): ReadonlySet<string> | null {
  if (around === undefined) return null
  if (!around.isMapping) return around.merged
  return around.key === '<<' && !around.isKeyNext ? around.keys : null
}

function hasRepeatedKey(keys: ReadonlySet<string>, merged: ReadonlySet<string>): boolean {
  // Nested merge keys are not followed.
  return (keys.has('<<') && merged.size > 1) || [...keys].some((key) => key !== '<<' && merged.has(key))
}

function firstPlace(parsed: ParsedYaml, problemAt: (place: YamlSlot) => string | null): Ambiguity | null {
  const open: OpenContainer[] = []
  const anchors = new Map<string, ReadonlySet<string>>()
  for (const event of parsed.events) {
    if (event.type === EVENT_ID.POP) {
      open.pop()
      continue
    }
    const around = open.at(-1)
    const isKey = around?.isMapping === true && around.isKeyNext
    const key = around?.isMapping === true && !isKey ? around.key : null
    const replaces = isReplacing(parsed, event, { around, isKey, anchors })
    const what = event.type === EVENT_ID.DOCUMENT ? null : problemAt({ event, isKey, key, replaces })
    if (what !== null) return { what, offset: parsed.toOriginal(faultOffset(event)) }
    const merged = mergedInto(around)
    if (around?.isMapping === true) {
      if (isKey) {
        around.key = event.type === EVENT_ID.SCALAR ? getScalarValue(parsed.source, event) : null
        if (around.key !== null) around.keys.add(around.key)
      }
      around.isKeyNext = !isKey
    }
    if (event.type === EVENT_ID.SCALAR || event.type === EVENT_ID.ALIAS) continue
    const keys = new Set<string>()
    if ('anchorStart' in event && event.anchorStart >= 0)
      anchors.set(parsed.source.slice(event.anchorStart, event.anchorEnd), keys)
    open.push({ isMapping: event.type === EVENT_ID.MAPPING, isKeyNext: true, key: null, keys, merged })
  }
  return null
}

function isReplacing(
  { source }: ParsedYaml,
  event: YamlEvents[number],
  {
    around,
    isKey,
    anchors,
  }: {
    readonly around: OpenContainer | undefined
    readonly isKey: boolean
    readonly anchors: ReadonlyMap<string, ReadonlySet<string>>
  },
): boolean {
  if (isKey && event.type === EVENT_ID.SCALAR && around?.merged !== null && around !== undefined)
    return hasRepeatedKey(new Set([getScalarValue(source, event)]), around.merged)
  const merged = isKey ? null : mergedInto(around)
  if (merged === null || event.type !== EVENT_ID.ALIAS) return false
  const keys = anchors.get(source.slice(event.anchorStart, event.anchorEnd))
  return keys !== undefined && hasRepeatedKey(keys, merged)
}

function faultOffset(event: YamlEvents[number]): number {
  if ('valueStart' in event && event.valueStart >= 0) return event.valueStart
  if ('tagStart' in event && event.tagStart >= 0) return event.tagStart
  if ('start' in event) return event.start
  return 'anchorStart' in event && event.anchorStart >= 0 ? event.anchorStart : 0
}

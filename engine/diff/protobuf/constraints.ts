/**
 * Validation rules of fields (protovalidate, and its predecessor protoc-gen-validate): whether a change refuses values that
 * were taken, or takes values that were refused. Servers run these rules on each call.
 */
import { canonicalJson, type Json } from '../../common/hash.ts'
import { lookupTable } from '../../common/lookup-table.ts'
import { outerOf } from '../../contracts/protobuf/names.ts'
import { isRecord } from '../../schema/located.ts'

type Stated = ReadonlyMap<string, Json>

/** How far an answer is known. */
type Certainty = 'no' | 'perhaps' | 'yes'

/** What a change does to the values that are taken. */
export interface ConstraintEffect {
  readonly narrows: Certainty
  readonly widens: Certainty
}

const NEITHER: ConstraintEffect = { narrows: 'no', widens: 'no' }
const NARROWS: ConstraintEffect = { narrows: 'yes', widens: 'no' }
const WIDENS: ConstraintEffect = { narrows: 'no', widens: 'yes' }
const MOVES: ConstraintEffect = { narrows: 'yes', widens: 'yes' }
const UNKNOWN: ConstraintEffect = { narrows: 'perhaps', widens: 'perhaps' }

/** One rule of a field on both sides. */
interface ConstraintChange {
  /** The path of the rules that it belongs to: `(buf.validate.field).string`. */
  readonly owner: string
  readonly base: Stated
  readonly head: Stated
  readonly before: Json
  readonly after: Json
}

type Relate = (change: ConstraintChange) => ConstraintEffect

const CONSTRAINT = /^\((?:buf\.validate\.(?:field|predefined)|validate\.rules)\)\./
/** Bounds of durations and timestamps are messages. */
const TIME_PART = /\.(?:seconds|nanos)$/

/** Null: the option is no constraint. */
export function constraintEffect(option: string, base: Stated, head: Stated): ConstraintEffect | null {
  if (!CONSTRAINT.test(option)) return null
  const path = option.replace(TIME_PART, '')
  const owner = outerOf(path)
  const relate = RULES.get(path.slice(owner.length + 1)) ?? unknown
  return relate({ owner, base, head, before: base.get(option) ?? null, after: head.get(option) ?? null })
}

/** Whether the value of a field that is not given is refused: zero, the empty text, list or map. */
export function refusesUnset(stated: Stated): Certainty {
  let answer: Certainty = 'no'
  for (const [option, value] of stated) {
    if (!CONSTRAINT.test(option) || ITEM.test(option)) continue
    const path = option.replace(TIME_PART, '')
    const owner = outerOf(path)
    const member = path.slice(owner.length + 1)
    const refuses = REFUSES_UNSET.get(member) ?? (() => 'perhaps' as const)
    const found = refuses(value, owner, stated)
    if (found === 'yes') return 'yes'
    if (found === 'perhaps') answer = 'perhaps'
  }
  return answer
}

/** Rules of items, keys and values: an empty list or map has none. */
const ITEM = /\.(?:items|keys|values)\./

interface ValueBound {
  readonly value: number
  readonly isExclusive: boolean
}

type RangeSide = 'lower' | 'upper'

/** The members that state a bound of each side, and whether they exclude it. */
const BOUNDS: Readonly<Record<RangeSide, ReadonlyMap<string, boolean>>> = {
  lower: new Map([
    ['gt', true],
    ['gte', false],
  ]),
  upper: new Map([
    ['lt', true],
    ['lte', false],
  ]),
}

/** The members that state a size: the exact one, the smallest, the largest. */
const SIZES = [
  ['len', 'min_len', 'max_len'],
  ['len_bytes', 'min_bytes', 'max_bytes'],
  ['', 'min_items', 'max_items'],
  ['', 'min_pairs', 'max_pairs'],
] as const

const INTEGER = /\.(?:[su]?int(?:32|64)|s?fixed(?:32|64))$/
const UNSIGNED = /\.(?:uint(?:32|64)|fixed(?:32|64))$/

/** A bound of a number or of a time. NaN: it cannot be read. Null: none. */
function rangeBound(owner: string, side: RangeSide, stated: Stated): ValueBound | null {
  for (const [member, isExclusive] of BOUNDS[side]) {
    const value = quantityAt(`${owner}.${member}`, stated)
    if (value === null) continue
    if (!isExclusive || !INTEGER.test(owner)) return { value, isExclusive }
    return { value: side === 'lower' ? value + 1 : value - 1, isExclusive: false }
  }
  return side === 'lower' && UNSIGNED.test(owner) ? { value: 0, isExclusive: false } : null
}

function quantityAt(option: string, stated: Stated): number | null {
  const value = stated.get(option)
  if (value !== undefined) return numberOf(value)
  const [seconds, nanos] = ['seconds', 'nanos'].map((part) => stated.get(`${option}.${part}`))
  if (seconds === undefined && nanos === undefined) return null
  return numberOf(seconds ?? 0) + numberOf(nanos ?? 0) / 1e9
}

function numberOf(value: Json): number {
  return typeof value === 'number' || typeof value === 'string' ? Number(value) : Number.NaN
}

/** A range whose lower bound is above its upper one takes what is outside of it. */
function isInverted(owner: string, stated: Stated): boolean {
  const [lower, upper] = [rangeBound(owner, 'lower', stated), rangeBound(owner, 'upper', stated)]
  return lower !== null && upper !== null && !(lower.value <= upper.value)
}

function relateRanges({ owner, base, head }: ConstraintChange, side: RangeSide): ConstraintEffect {
  if (isInverted(owner, base) || isInverted(owner, head)) return UNKNOWN
  return relateBounds(rangeBound(owner, side, base), rangeBound(owner, side, head), side)
}

function relateBounds(before: ValueBound | null, after: ValueBound | null, side: RangeSide): ConstraintEffect {
  if (before === null || after === null) return before === after ? NEITHER : before === null ? NARROWS : WIDENS
  const further = side === 'lower' ? after.value - before.value : before.value - after.value
  if (Number.isNaN(further)) return UNKNOWN
  if (further !== 0) return further > 0 ? NARROWS : WIDENS
  if (before.isExclusive === after.isExclusive) return NEITHER
  return after.isExclusive ? NARROWS : WIDENS
}

function relateSizes(
  { owner, base, head }: ConstraintChange,
  [exact, least, most]: (typeof SIZES)[number],
  side: RangeSide,
): ConstraintEffect {
  const bound = (stated: Stated): ValueBound | null => {
    const value = stated.get(`${owner}.${exact}`) ?? stated.get(`${owner}.${side === 'lower' ? least : most}`)
    if (value !== undefined) return { value: numberOf(value), isExclusive: false }
    return side === 'lower' ? { value: 0, isExclusive: false } : null
  }
  return relateBounds(bound(base), bound(head), side)
}

function eitherEffect(one: ConstraintEffect, other: ConstraintEffect): ConstraintEffect {
  return { narrows: either(one.narrows, other.narrows), widens: either(one.widens, other.widens) }
}

function either(one: Certainty, other: Certainty): Certainty {
  if (one === 'yes' || other === 'yes') return 'yes'
  return one === 'perhaps' || other === 'perhaps' ? 'perhaps' : 'no'
}

/** `const` is a list of one value. */
function relateValues({ owner, base, head }: ConstraintChange): ConstraintEffect {
  const [before, after] = [takenValues(owner, base), takenValues(owner, head)]
  if (before === null || after === null) return before === after ? NEITHER : before === null ? NARROWS : WIDENS
  return fromSets(before.isSubsetOf(after), after.isSubsetOf(before))
}

/** From whether all that was taken is taken still, and nothing else. */
export function fromSets(keepsAll: boolean, addsNone: boolean): ConstraintEffect {
  return { narrows: keepsAll ? 'no' : 'yes', widens: addsNone ? 'no' : 'yes' }
}

function takenValues(owner: string, stated: Stated): ReadonlySet<string> | null {
  const constant = stated.get(`${owner}.const`)
  if (constant !== undefined) return new Set([canonicalJson(constant)])
  const list = stated.get(`${owner}.in`)
  return list === undefined ? null : textsOf(list)
}

function textsOf(list: Json): ReadonlySet<string> {
  return new Set([list ?? []].flat().map((item) => canonicalJson(item)))
}

const refusedValues: Relate = ({ before, after }) => {
  const [was, is] = [textsOf(before), textsOf(after)]
  return fromSets(is.isSubsetOf(was), was.isSubsetOf(is))
}

const flag: Relate = ({ before, after }) => (before === after ? NEITHER : after === true ? NARROWS : WIDENS)

/** A format that takes the values of narrower ones. */
const WIDER: Readonly<Record<string, readonly string[]>> = lookupTable({
  ip: ['ipv4', 'ipv6'],
  address: ['hostname', 'ip', 'ipv4', 'ipv6'],
  uri_ref: ['uri'],
  ip_with_prefixlen: ['ipv4_with_prefixlen', 'ipv6_with_prefixlen'],
  ip_prefix: ['ipv4_prefix', 'ipv6_prefix'],
})

/** A format beside, or in place of, a narrower one on the other side changes nothing by itself. */
function format(name: string): Relate {
  const narrower = WIDER[name] ?? []
  return (change) => {
    const { owner, base, head, before } = change
    const other = before === true ? head : base
    return narrower.some((one) => other.get(`${owner}.${one}`) === true) ? NEITHER : flag(change)
  }
}

/** A text that each value must contain at one place. */
function fixedText(holds: (longer: string, shorter: string) => boolean): Relate {
  return ({ before, after }) => {
    if (typeof before !== 'string' || typeof after !== 'string') return before === null ? NARROWS : WIDENS
    if (before === after) return NEITHER
    if (holds(after, before)) return NARROWS
    return holds(before, after) ? WIDENS : MOVES
  }
}

/** A rule whose values cannot be compared. One that comes refuses something, or it would not be there. */
const opaque: Relate = ({ before, after }) => (before === null ? NARROWS : after === null ? WIDENS : UNKNOWN)

const unknown: Relate = () => UNKNOWN

/** How much validation passes over. */
const IGNORED = ['IGNORE_UNSPECIFIED', 'IGNORE_IF_UNPOPULATED', 'IGNORE_IF_ZERO_VALUE', 'IGNORE_ALWAYS']

/** The zero of a field is passed over, or no longer. What else is ignored may have been valid before. */
function relateIgnored({ owner, base, head, before, after }: ConstraintChange): ConstraintEffect {
  const [was, is] = [before, after].map((value) =>
    IGNORED.indexOf(typeof value === 'string' ? value : 'IGNORE_UNSPECIFIED'),
  )
  if (was === undefined || is === undefined || was < 0 || is < 0) return UNKNOWN
  if (was === is) return NEITHER
  const [effect, stated] = was < is ? [WIDENS, base] : [NARROWS, head]
  const isZeroAlone = Math.min(was, is) === 0 && Math.max(was, is) === IGNORED.indexOf('IGNORE_IF_ZERO_VALUE')
  if (!isZeroAlone || ITEM.test(`${owner}.`) || !isOfValue(stated)) return perhaps(effect)
  const certainty = refusesUnset(stated)
  if (certainty === 'perhaps') return perhaps(effect)
  return certainty === 'yes' ? effect : NEITHER
}

/** Types with a zero that is a value. A message is there or not. */
const OF_VALUE = /\.(?:string|bytes|bool|enum|repeated|map|float|double|[su]?int(?:32|64)|s?fixed(?:32|64))\./

function isOfValue(stated: Stated): boolean {
  return [...stated.keys()].every(
    (option) => !CONSTRAINT.test(option) || option.endsWith('.ignore') || OF_VALUE.test(option),
  )
}

function perhaps({ narrows, widens }: ConstraintEffect): ConstraintEffect {
  return { narrows: narrows === 'yes' ? 'perhaps' : narrows, widens: widens === 'yes' ? 'perhaps' : widens }
}

/** Expressions may be true of every value that is sent. Their ids and messages have no effect. */
const expressions: Relate = ({ before, after }) =>
  canonicalJson(withoutTexts(before)) === canonicalJson(withoutTexts(after)) ? NEITHER : UNKNOWN

function withoutTexts(value: Json): Json {
  return [value].flat().map((item) => (isRecord(item) ? (item['expression'] ?? null) : item))
}

/** Formats of texts and bytes. All but `uri_ref` refuse the empty text. */
const FORMATS = [
  'email',
  'hostname',
  'ip',
  'ipv4',
  'ipv6',
  'uri',
  'address',
  'uuid',
  'tuuid',
  'ip_with_prefixlen',
  'ipv4_with_prefixlen',
  'ipv6_with_prefixlen',
  'ip_prefix',
  'ipv4_prefix',
  'ipv6_prefix',
  'host_and_port',
  'ulid',
]

const FLAGS = [...FORMATS, 'uri_ref', 'unique', 'finite', 'lt_now', 'gt_now', 'no_sparse']

const RULES: ReadonlyMap<string, Relate> = new Map<string, Relate>([
  ...(['lower', 'upper'] as const).flatMap((side) =>
    [...BOUNDS[side].keys()].map((member): [string, Relate] => [member, (change) => relateRanges(change, side)]),
  ),
  ...SIZES.flatMap((names): [string, Relate][] => {
    const [exact, least, most] = names
    const both: Relate = (change) =>
      eitherEffect(relateSizes(change, names, 'lower'), relateSizes(change, names, 'upper'))
    return [
      [exact, both],
      [least, (change) => relateSizes(change, names, 'lower')],
      [most, (change) => relateSizes(change, names, 'upper')],
    ]
  }),
  ...FLAGS.map((name): [string, Relate] => [name, format(name)]),
  // Callers by the contract send the values that it defines.
  ['defined_only', (change) => perhaps(flag(change))],
  // It is true if it is not stated.
  ['strict', ({ before, after }) => (before === after || after !== false ? NARROWS : WIDENS)],
  ['const', relateValues],
  ['in', relateValues],
  ['not_in', refusedValues],
  ['prefix', fixedText((longer, shorter) => longer.startsWith(shorter))],
  ['suffix', fixedText((longer, shorter) => longer.endsWith(shorter))],
  ['contains', fixedText((longer, shorter) => longer.includes(shorter))],
  // A longer text is in fewer values.
  ['not_contains', fixedText((longer, shorter) => shorter.includes(longer))],
  ['pattern', opaque],
  ['well_known_regex', opaque],
  ['within', opaque],
  ['cel', expressions],
  ['ignore', relateIgnored],
  ['ignore_empty', (change) => perhaps(flag({ ...change, before: change.after, after: change.before }))],
  ['example', () => NEITHER],
  ['id', () => NEITHER],
  ['message', () => NEITHER],
])

type RefusesUnset = (value: Json, owner: string, stated: Stated) => Certainty

const never: RefusesUnset = () => 'no'
const always: RefusesUnset = () => 'yes'

function comparedWithZero(isRefused: (bound: number) => boolean): RefusesUnset {
  return (value, owner, stated) => {
    const bound = numberOf(value)
    if (Number.isNaN(bound) || isInverted(owner, stated)) return 'perhaps'
    return isRefused(bound) ? 'yes' : 'no'
  }
}

const givenText: RefusesUnset = (value) => (value === '' ? 'no' : 'yes')

function isZero(value: Json): boolean {
  return value === 0 || value === '' || value === false
}

const REFUSES_UNSET: ReadonlyMap<string, RefusesUnset> = new Map<string, RefusesUnset>([
  ['gt', comparedWithZero((bound) => bound >= 0)],
  ['gte', comparedWithZero((bound) => bound > 0)],
  ['lt', comparedWithZero((bound) => bound <= 0)],
  ['lte', comparedWithZero((bound) => bound < 0)],
  ...SIZES.flatMap(([exact, least, most]): [string, RefusesUnset][] => [
    [exact, comparedWithZero((bound) => bound > 0)],
    [least, comparedWithZero((bound) => bound > 0)],
    [most, never],
  ]),
  ['const', (value) => (isZero(value) ? 'no' : 'yes')],
  ['in', (value) => ([value].flat().some(isZero) ? 'no' : 'yes')],
  ['not_in', (value) => ([value].flat().some(isZero) ? 'yes' : 'no')],
  ...FORMATS.map((name): [string, RefusesUnset] => [name, always]),
  ['prefix', givenText],
  ['suffix', givenText],
  ['contains', givenText],
  ...[
    'not_contains',
    'uri_ref',
    'unique',
    'finite',
    'lt_now',
    'gt_now',
    'no_sparse',
    'defined_only',
    'strict',
    'ignore',
    'ignore_empty',
    'example',
    'id',
    'message',
  ].map((name): [string, RefusesUnset] => [name, never]),
])

/**
 * The descriptions within an item of a manifest: texts of both sides at the same place. In the schemas of a tool the
 * place is that of the described value, wherever its schema is written: a reference stands for its target.
 */
import { byCodeUnit } from '../../common/code-unit-order.ts'
import { canonicalJson } from '../../common/hash.ts'
import type { McpItem } from '../../contracts/mcp-manifest.ts'
import { KEYWORD_FORMS } from '../../schema/keyword-forms.ts'
import {
  isRecord,
  locatedItems,
  memberOf,
  pointerOf,
  recordOf,
  ROOT,
  stepInto,
  textAt,
  type Located,
  type Place,
} from '../../schema/located.ts'
import { keysOfBoth, matchByKey } from '../match.ts'
import type { Sides } from '../sides.ts'
import { spellingKey } from './renames.ts'
import { schemaResolver } from './schemas.ts'
import { DATA_MEMBERS, findNewSigns, MAP_MEMBERS, nounOf, stepsTo } from './texts.ts'
import type { McpWalk } from './walk.ts'
import { compareWording } from './wording.ts'

/** Members whose text describes the object that holds them. */
const DESCRIBING = ['description', 'title'] as const

/** Members whose values a model follows as it follows a description. */
const EXAMPLES: ReadonlySet<string> = new Set(['examples', 'example'])

/** A schema as JSON Schema has it. A text under another name is read by models, too. */
const OF_SCHEMAS: ReadonlySet<string> = new Set([...KEYWORD_FORMS.keys(), ...DESCRIBING, 'id', 'x-mcp-header'])

/** Keywords that hold no schema: their parts are no texts. */
const VALUE_KEYWORDS: ReadonlySet<string> = new Set(
  [...KEYWORD_FORMS].flatMap(([name, form]) => (/schema|dependencies/.test(form) ? [] : [name])),
)

/** Schemas that stand for nothing until something refers to them. */
const DEFINITIONS: ReadonlySet<string> = new Set(['$defs', 'definitions'])

/** Maximum objects that are compared behind references, of one item. */
const MOST_REFERRED = 20_000
const LONGEST_CHAIN = 32

type Resolve = (reference: string, from: Located) => Located | null

/** A schema of a tool on one side. */
interface SchemaRoot {
  readonly root: Located
  readonly resolve: Resolve
}

/** An object on one side: itself, then the targets of its references. The first that has a member counts. */
type Layers = readonly Located[]

interface DescribedPart {
  readonly base: Layers
  readonly head: Layers
  /** Below the item. References leave no trace in it. */
  readonly at: Place
  /** Within a schema of a tool. */
  readonly roots: Sides<SchemaRoot> | null
  /** Whether a reference was followed on the way. */
  readonly isReferred: boolean
}

/** Compares the descriptions within an item that both sides have, and searches new texts. */
export function compareDescriptions(before: McpItem, after: McpItem, kind: string, walk: McpWalk): void {
  new DescriptionComparison(kind, walk).compare(before, after)
  findNewSigns(before, after, kind, walk)
}

class DescriptionComparison {
  readonly #kind: string
  readonly #walk: McpWalk
  /** Pairs of objects that a reference led to. */
  readonly #seen = new Map<unknown, Set<unknown>>()
  readonly #targets = new Map<SchemaRoot, ReadonlySet<string>>()
  #referred = 0

  constructor(kind: string, walk: McpWalk) {
    this.#kind = kind
    this.#walk = walk
  }

  compare(before: Located, after: Located): void {
    this.#compareObject({ base: [before], head: [after], at: ROOT, roots: null, isReferred: false })
    if (this.#referred <= MOST_REFERRED) return
    const owner = { before: null, after: null, located: after }
    this.#add(ROOT, 'description', owner, 'too many references to compare them all')
  }

  #compareValue(base: Located | null, head: Located | null, part: Omit<DescribedPart, 'base' | 'head'>): void {
    const [isBaseList, isHeadList] = [Array.isArray(base?.value), Array.isArray(head?.value)]
    if (isBaseList || isHeadList) this.#compareLists(base, head, part)
    const [baseObject, headObject] = [objectOf(base), objectOf(head)]
    if (baseObject.length + headObject.length > 0) this.#compareObject({ ...part, base: baseObject, head: headObject })
  }

  #compareLists(base: Located | null, head: Located | null, part: Omit<DescribedPart, 'base' | 'head'>): void {
    const [baseItems, headItems] = [locatedItems(base), locatedItems(head)]
    const isNamed = [...baseItems, ...headItems].every(({ value }) => textAt(value, 'name') !== null)
    const keyOf = ({ value }: Located): string =>
      isNamed ? (textAt(value, 'name') ?? '') : canonicalJson(value ?? null)
    const { kept, removed, added } = matchByKey(baseItems, headItems, keyOf)
    for (const [before, after] of kept) this.#compareValue(before, after, { ...part, at: itemPlace(part.at, after) })
    // A named item that one side lacks has its own finding.
    if (isNamed) return
    for (let index = 0; index < Math.max(removed.length, added.length); index += 1) {
      const [before, after] = [removed[index] ?? null, added[index] ?? null]
      const item = after ?? before
      if (item !== null) this.#compareValue(before, after, { ...part, at: itemPlace(part.at, item) })
    }
  }

  #compareObject(stated: DescribedPart): void {
    const part = this.#followed(stated)
    if (part === null) return
    const { at } = part
    for (const member of textMembers(part)) {
      const name = member === 'title' ? nameOf(at, this.#walk) : null
      const [base, head] = [textOf(part.base, member, name), textOf(part.head, member, name)]
      const wording = compareWording(base?.text ?? '', head?.text ?? '')
      const owner = head ?? base
      if (wording.kind === 'same' || owner === null) continue
      const change = { before: base?.text ?? null, after: head?.text ?? null, located: owner.located }
      this.#add(at, member, change, wording.difference, wording.kind)
    }
    for (const name of keysOfBoth(containersOf(part.base), containersOf(part.head))) {
      const [base, head] = [containerOf(part.base, name), containerOf(part.head, name)]
      const isSchema = part.roots === null && (name === 'inputSchema' || name === 'outputSchema') && at.parent === null
      // That a tool states its results has a finding of its own.
      if (name === 'outputSchema' && isSchema && (base === null || head === null)) continue
      const roots = isSchema ? rootsOf(base, head) : part.roots
      if (part.roots !== null && VALUE_KEYWORDS.has(name)) continue
      const below = { at: stepInto(at, name), roots, isReferred: part.isReferred }
      if (DEFINITIONS.has(name) && roots !== null) this.#compareNewDefinitions(base, head, below)
      if (MAP_MEMBERS.has(name) || name === 'dependencies') this.#compareMaps(base, head, below)
      else this.#compareValue(base, head, below)
    }
  }

  /** New definitions that nothing refers to: models read them with the rest of the schema. */
  #compareNewDefinitions(base: Located | null, head: Located | null, part: Omit<DescribedPart, 'base' | 'head'>): void {
    if (head === null || part.roots === null) return
    const known = recordOf(base?.value)
    const names = Object.keys(recordOf(head.value)).filter((name) => !Object.hasOwn(known, name))
    if (names.length === 0) return
    const places = this.#targets.get(part.roots.head) ?? targetPlaces(part.roots.head)
    this.#targets.set(part.roots.head, places)
    for (const name of names.sort(byCodeUnit)) {
      const after = memberOf(head, name)
      if (after !== null && !places.has(pointerOf(after.at)))
        this.#compareValue(null, after, { ...part, at: stepInto(part.at, name) })
    }
  }

  /** A name that one side lacks has its own finding. */
  #compareMaps(base: Located | null, head: Located | null, part: Omit<DescribedPart, 'base' | 'head'>): void {
    if (base === null || head === null) return
    for (const name of keysOfBoth(Object.keys(recordOf(base.value)), Object.keys(recordOf(head.value)))) {
      const [before, after] = [memberOf(base, name), memberOf(head, name)]
      if (before !== null && after !== null) this.#compareValue(before, after, { ...part, at: stepInto(part.at, name) })
    }
  }

  /** The part with the targets of its references. Null if it was compared already. */
  #followed(part: DescribedPart): DescribedPart | null {
    const { roots, isReferred } = part
    if (isReferred) this.#referred += 1
    if (roots === null) return part
    const base = withTargets(part.base, roots.base)
    const head = withTargets(part.head, roots.head)
    // The same part of both schemas is compared where it is.
    if (base.length === part.base.length && head.length === part.head.length) return part
    if (targetsOf(base, roots.base) === targetsOf(head, roots.head)) return part
    if (this.#referred > MOST_REFERRED || this.#isSeen(base.at(-1)?.value, head.at(-1)?.value)) return null
    return { ...part, base, head, isReferred: true }
  }

  #isSeen(base: unknown, head: unknown): boolean {
    const known = this.#seen.get(base) ?? new Set()
    this.#seen.set(base, known)
    if (known.has(head)) return true
    known.add(head)
    return false
  }

  #add(at: Place, member: string, change: DescribedChange, detail: string, kind = 'changed'): void {
    const { before, after, located } = change
    this.#walk.add({
      rule: kind === 'changed' ? 'mcp-description-changed' : 'mcp-description-reworded',
      subject: `${this.#kind}${pointerOf(at)}/${member}`,
      side: after === null && before !== null ? 'base' : 'head',
      location: pointerOf(located.at),
      name: `the ${member} of ${nounOf(stepsTo(at), this.#kind)}`,
      before,
      after,
      detail,
    })
  }
}

interface DescribedChange {
  readonly before: string | null
  readonly after: string | null
  /** The text that is there. */
  readonly located: Located
}

/** The places that references in a schema lead to, and those around them. */
function targetPlaces({ root, resolve }: SchemaRoot): ReadonlySet<string> {
  const places = new Set<string>()
  for (const reference of referencesIn(root.value)) {
    let place: Place | null = resolve(reference, root)?.at ?? null
    for (; place !== null && !places.has(pointerOf(place)); place = place.parent) places.add(pointerOf(place))
  }
  return places
}

function referencesIn(schema: unknown): readonly string[] {
  if (typeof schema !== 'object' || schema === null) return []
  const found = Object.entries(schema).flatMap(([name, member]: readonly [string, unknown]) =>
    name === '$ref' && typeof member === 'string' ? [member] : referencesIn(member),
  )
  return [...new Set(found)]
}

function objectOf(located: Located | null): Layers {
  return located !== null && isRecord(located.value) ? [located] : []
}

function itemPlace(list: Place, item: Located): Place {
  return stepInto(list, item.at.step)
}

function rootsOf(base: Located | null, head: Located | null): Sides<SchemaRoot> | null {
  const [before, after] = [base ?? head, head ?? base]
  if (before === null || after === null) return null
  return {
    base: { root: before, resolve: schemaResolver(before) },
    head: { root: after, resolve: schemaResolver(after) },
  }
}

function withTargets(layers: Layers, { resolve }: SchemaRoot): Layers {
  const all = [...layers]
  for (let last = all.at(-1); last !== undefined && all.length <= LONGEST_CHAIN; last = all.at(-1)) {
    const reference = textAt(last.value, '$ref')
    const target = reference === null ? null : resolve(reference, last)
    if (target === null || all.some(({ value }) => value === target.value)) break
    all.push(target)
  }
  return all
}

/** Where the references lead, within the schema. */
function targetsOf(layers: Layers, { root }: SchemaRoot): string {
  const start = pointerOf(root.at).length
  return layers
    .slice(1)
    .map(({ at }) => pointerOf(at).slice(start))
    .join(' ')
}

/** The members of an object that are read as texts. */
function textMembers({ base, head, roots }: DescribedPart): readonly string[] {
  if (roots === null) return DESCRIBING
  const names = [...base, ...head].flatMap(({ value }) => Object.keys(recordOf(value)))
  const others = names.filter((name) => EXAMPLES.has(name) || (!OF_SCHEMAS.has(name) && !DATA_MEMBERS.has(name)))
  return [...DESCRIBING, ...new Set(others)]
}

interface StatedText {
  readonly text: string
  readonly located: Located
}

/** @param name a title that only repeats it says nothing */
function textOf(layers: Layers, member: string, name: string | null): StatedText | null {
  for (const layer of layers) {
    const located = memberOf(layer, member)
    const text = located === null ? null : textIn(located.value, member)
    if (located === null || text === null || text === '') continue
    return name !== null && spellingKey(text) === spellingKey(name) ? null : { text, located }
  }
  return null
}

function textIn(value: unknown, member: string): string | null {
  if (EXAMPLES.has(member)) return canonicalJson(value ?? null)
  if (DESCRIBING.some((name) => name === member)) return typeof value === 'string' ? value : null
  const texts: readonly unknown[] = Array.isArray(value) ? value : [value]
  const isText = texts.every((text) => typeof text === 'string') && texts.some(isSentence)
  return isText ? texts.join('\n') : null
}

/** One word is a name, such as that of a form field of an editor. Some languages write no spaces. */
function isSentence(text: unknown): boolean {
  return typeof text === 'string' && /\S\s+\S|[^\p{ASCII}]/u.test(text)
}

/** The name of what a title is about: an argument, or the tool. */
function nameOf({ step, parent }: Place, { tool }: McpWalk): string | null {
  if (parent?.step === 'properties') return step
  return parent?.parent === null && step === 'inputSchema' ? tool : null
}

function containersOf(layers: Layers): readonly string[] {
  return layers.flatMap(({ value }) =>
    Object.entries(recordOf(value)).flatMap(([name, member]) =>
      typeof member === 'object' && member !== null && !DATA_MEMBERS.has(name) ? [name] : [],
    ),
  )
}

function containerOf(layers: Layers, name: string): Located | null {
  for (const layer of layers) {
    const held = memberOf(layer, name)
    if (held !== null && typeof held.value === 'object' && held.value !== null) return held
  }
  return null
}

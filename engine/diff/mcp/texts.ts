/**
 * The texts of a manifest that models read. Descriptions are compared where both sides have the described element.
 * Every new string is searched for signs of an attack on the model.
 */
import type { McpItem } from '../../contracts/mcp-manifest.ts'
import { findSuspicions } from './suspicion.ts'
import { compareWording } from './wording.ts'
import {
  isRecord,
  pointerOf,
  ROOT,
  stepInto,
  textAt,
  type JsonRecord,
  type Located,
  type Place,
} from '../../schema/located.ts'
import type { McpWalk } from './walk.ts'

/** Members whose text describes the object that holds them. */
const DESCRIBING = ['description', 'title'] as const

/** Members that contain values, not descriptions. Their content is data under any name. */
const DATA_MEMBERS: ReadonlySet<string> = new Set([
  'default',
  'const',
  'enum',
  'examples',
  'example',
  'input_examples',
  '_meta',
])

/** Members that map names to elements: `properties.title` is a property, not a title. */
const MAP_MEMBERS: ReadonlySet<string> = new Set([
  'properties',
  'patternProperties',
  '$defs',
  'definitions',
  'dependentSchemas',
])

/** Compares the descriptions within an item that both sides have, and searches new texts. */
export function compareDescriptions(before: McpItem, after: McpItem, kind: string, walk: McpWalk): void {
  eachDescribed({ base: before.value, head: after.value, at: ROOT }, false, ({ base, head, at }) => {
    for (const member of DESCRIBING) {
      const values = { before: textMember(base, member), after: textMember(head, member) }
      const wording = compareWording(values.before, values.after)
      if (wording.kind === 'same') continue
      const isRemoved = values.after === ''
      const path = pointerOf(at)
      walk.add({
        rule: wording.kind === 'changed' ? 'mcp-description-changed' : 'mcp-description-reworded',
        subject: `${kind}${path}/${member}`,
        side: isRemoved ? 'base' : 'head',
        location: `${pointerOf(isRemoved ? before.at : after.at)}${path}/${member}`,
        name: `the ${member} of ${nounOf(stepsTo(at), kind)}`,
        before: values.before || null,
        after: values.after || null,
        detail: wording.difference,
      })
    }
  })
  findNewSigns(before, after, kind, walk)
}

/** What both sides have at a place below the item. */
interface SharedPart<Value> {
  readonly base: Value
  readonly head: Value
  readonly at: Place
}

/** Every describable object that both sides have at the same place. The reader bounds the depth. */
function eachDescribed(
  { base, head, at }: SharedPart<unknown>,
  isMap: boolean,
  visit: (part: SharedPart<JsonRecord>) => void,
): void {
  if (Array.isArray(base) && Array.isArray(head)) {
    const named = itemsByName(base)
    for (const [index, item] of head.entries()) {
      if (!isContainer(item)) continue
      const partner: unknown = named === null ? base[index] : named.get(textAt(item, 'name'))
      eachDescribed({ base: partner, head: item, at: stepInto(at, String(index)) }, false, visit)
    }
    return
  }
  if (!isRecord(base) || !isRecord(head)) return
  if (!isMap) visit({ base, head, at })
  for (const [name, member] of Object.entries(head)) {
    if (!isContainer(member) || !Object.hasOwn(base, name) || (!isMap && DATA_MEMBERS.has(name))) continue
    const part = { base: base[name], head: member, at: stepInto(at, name) }
    eachDescribed(part, !isMap && MAP_MEMBERS.has(name), visit)
  }
}

/** Lists of named elements, such as prompt arguments. Null for a list by position. */
function itemsByName(list: readonly unknown[]): ReadonlyMap<string | null, unknown> | null {
  const named = new Map(list.map((item) => [textAt(item, 'name'), item]))
  return list.length > 0 && named.size === list.length && !named.has(null) ? named : null
}

function isContainer(value: unknown): boolean {
  return typeof value === 'object' && value !== null
}

function stepsTo(at: Place): readonly string[] {
  const steps: string[] = []
  for (let place = at; place.parent !== null; place = place.parent) steps.push(place.step)
  return steps.reverse()
}

/** The text of a member; empty if it has none. */
export function textMember(owner: JsonRecord, member: string): string {
  const value = owner[member]
  return typeof value === 'string' ? value : ''
}

/** The owner of a text, for messages. */
function nounOf(tokens: readonly string[], kind: string): string {
  const names = tokens.filter((token, index) => tokens[index - 1] === 'properties' && token !== '')
  if (names.length > 0) {
    return `the ${tokens[0] === 'outputSchema' ? 'result' : 'argument'} \`${names.join('.')}\``
  }
  return tokens.length === 0 ? `the ${kind}` : `the ${kind}’s \`${tokens.join('/')}\``
}

/** Searches every string that the item did not contain before. `before` is null for a new item. */
export function findNewSigns(before: Located | null, after: Located, kind: string, walk: McpWalk): void {
  const known = new Set<string>()
  eachText(before?.value, ROOT, ({ string }) => void known.add(string))
  const owner = { tools: walk.tools, own: walk.tool }
  eachText(after.value, ROOT, ({ string, at, isName }) => {
    if (known.has(string)) return
    const suspicions = findSuspicions(string, owner)
    if (suspicions.length === 0) return
    const steps = stepsTo(at)
    // A name on both sides is known.
    const base = isName ? null : textUnder(before?.value, steps)
    const had = new Set(findSuspicions(base ?? '', owner).map(signKey))
    const path = `${pointerOf(at)}${isName ? '#' : ''}`
    for (const suspicion of suspicions) {
      if (had.has(signKey(suspicion))) continue
      walk.add({
        rule: suspicion.rule,
        subject: `${kind}${path}`,
        side: 'head',
        location: `${pointerOf(after.at)}${path}`,
        name: `a text of ${nounOf(steps.slice(0, -1), kind)}`,
        before: base,
        after: string,
        detail: suspicion.evidence,
      })
    }
  })
}

function signKey({ rule, evidence }: { readonly rule: string; readonly evidence: string }): string {
  return `${rule} ${evidence}`
}

interface TextEntry {
  readonly string: string
  readonly at: Place
  /** True for a member name, false for a value or an item. */
  readonly isName: boolean
}

/** Every text below `value`, including member names, because models read them too. */
function eachText(value: unknown, at: Place, visit: (entry: TextEntry) => void): void {
  if (typeof value === 'string') visit({ string: value, at, isName: false })
  else if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) eachText(item, stepInto(at, String(index)), visit)
  } else if (isRecord(value)) {
    for (const [name, member] of Object.entries(value)) {
      const below = stepInto(at, name)
      visit({ string: name, at: below, isName: true })
      eachText(member, below, visit)
    }
  }
}

function textUnder(root: unknown, steps: readonly string[]): string | null {
  let value = root
  for (const step of steps) {
    if (Array.isArray(value)) value = value[Number(step)]
    else value = isRecord(value) && Object.hasOwn(value, step) ? value[step] : undefined
  }
  return typeof value === 'string' ? value : null
}

/** The texts of a manifest that models read: every new one is searched for signs of an attack on the model. */
import { findSuspicions } from './suspicion.ts'
import { isRecord, pointerOf, ROOT, stepInto, type JsonRecord, type Located, type Place } from '../../schema/located.ts'
import type { McpWalk } from './walk.ts'

/** Members that contain values, not descriptions. Their content is data under any name. */
export const DATA_MEMBERS: ReadonlySet<string> = new Set([
  'default',
  'const',
  'enum',
  'examples',
  'example',
  'input_examples',
  '_meta',
])

/** Members that map names to elements: `properties.title` is a property, not a title. */
export const MAP_MEMBERS: ReadonlySet<string> = new Set([
  'properties',
  'patternProperties',
  '$defs',
  'definitions',
  'dependentSchemas',
])

export function stepsTo(at: Place): readonly string[] {
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
export function nounOf(tokens: readonly string[], kind: string): string {
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

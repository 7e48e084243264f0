/** The pair of an index: a schema, and what a few changes or another draw made of it. */
import { DIALECTS, type Dialect } from './dialects.ts'
import { withoutLostTargets, drawChoice, TAG, TAGS } from './discriminators.ts'
import { judge, type Failure, type Judgement, type Pair } from './judge.ts'
import { mutated, smaller } from './mutations.ts'
import { Random } from './random.ts'
import { rewritten } from './rewrites.ts'
import {
  isKeywords,
  isProper,
  mapped,
  reachedDefinitions,
  tidied as reached,
  without,
  type Path,
  type Schema,
} from './schema.ts'
import { instancesFor, NAMES } from './values.ts'
import {
  DEFINITIONS,
  drawingFor,
  drawSchema,
  KINDS,
  mapOf,
  REFERENCES,
  typed,
  type Drawing,
  type Kind,
} from './schemas.ts'

/** Without unreachable definitions, and without discriminator names that select no alternative. */
function tidied(root: Schema): Schema {
  return reached(mapped(root, withoutLostTargets))
}

export interface DrawnPair extends Pair {
  /** The changes that made the second schema of the first. */
  readonly changes: readonly string[]
}

export function pairAt(seed: number, index: number): DrawnPair {
  const random = new Random(seed, index)
  const dialect = random.pick(DIALECTS)
  const drawn = drawRoot(random, dialect)
  if (random.chance(0.05))
    return { dialect, before: tidied(drawn), after: tidied(drawRoot(random, dialect)), changes: ['another schema'] }
  const changes: string[] = []
  let root: Schema = drawn
  const count = random.pick([1, 1, 1, 1, 2, 3])
  for (let step = 0; step < count; step += 1) {
    const names = reachedDefinitions(root)
    const isWanted = (path: Path): boolean => path[0] !== '$defs' || names.has(String(path[1]))
    const changed = mutated(random, dialect, root, isWanted)
    if (changed === null) continue
    root = changed.schema
    changes.push(changed.name)
  }
  const [before, after] = random.chance(0.3) ? [root, drawn] : [drawn, root]
  return { dialect, before: tidied(before), after: tidied(after), changes }
}

/** The pair of an index in which the second schema is the first in other words; null where no rewrite applied. */
export function equalPairAt(seed: number, index: number): DrawnPair | null {
  const random = new Random(seed ^ 0x2545f491, index)
  const dialect = random.pick(DIALECTS)
  // What a discriminator means, no rewrite knows.
  const before = reached(
    mapped(drawRoot(random, dialect), (one) => (isKeywords(one) ? without(one, 'discriminator') : one)),
  )
  const other = rewritten(random, dialect, before)
  if (other === null) return null
  const [base, head] = random.chance(0.5) ? [before, other.schema] : [other.schema, before]
  return { dialect, before: base, after: head, changes: [other.name] }
}

function instancesAt(seed: number, index: number, { before, after }: Pair): readonly unknown[] {
  return instancesFor(new Random(seed ^ 0x5bd1e995, index), before, after, 10)
}

/** The judgement of the pair of an index. */
export function judgeAt(seed: number, index: number): { readonly pair: DrawnPair; readonly judgement: Judgement } {
  const pair = pairAt(seed, index)
  return { pair, judgement: judge(pair, instancesAt(seed, index, pair)) }
}

export interface Shrunk {
  readonly pair: Pair
  readonly failure: Failure
}

/** The smallest pair found that fails in the same way; each step takes away what the failure does not need. */
export function shrink(pair: Pair, failure: Failure, seed: number): Shrunk {
  let best: Shrunk = { pair, failure }
  let tries = 0
  for (let isSmaller = true; isSmaller && tries < 3000;) {
    isSmaller = false
    for (const [base, head] of smaller(best.pair.before, best.pair.after)) {
      tries += 1
      const [before, after] = [tidied(base), tidied(head)]
      if (!isProper(before) || !isProper(after)) continue
      if (sizeOf(before) + sizeOf(after) >= sizeOf(best.pair.before) + sizeOf(best.pair.after)) continue
      const candidate = { dialect: best.pair.dialect, before, after }
      const found = failureOf(candidate, best.failure, seed)
      if (found === null) continue
      best = { pair: candidate, failure: found }
      isSmaller = true
      break
    }
  }
  return best
}

function sizeOf(schema: Schema): number {
  return JSON.stringify(schema).length
}

function failureOf(pair: Pair, like: Failure, seed: number): Failure | null {
  try {
    const { failures } = judge(pair, instancesAt(seed, 1, pair), like.surface)
    return (
      failures.find(
        ({ effect, level }) => effect === like.effect && (level === 'refused') === (like.level === 'refused'),
      ) ?? null
    )
  } catch {
    // A schema that the validator refuses to compile is no pair.
    return null
  }
}

/** Fields as forms have them: texts, numbers, marks, and lists of those. */
function drawForm(drawing: Drawing): Schema {
  const { random } = drawing
  const field = (): Schema => random.pick(FIELDS)(drawing, 0)
  const properties = mapOf(random.some(NAMES, 1, 3), () =>
    random.chance(0.8) ? field() : { ...Object(typed('array', 0, 2, ['items'])(drawing, 0)), items: field() },
  )
  const required = random.some(Object.keys(properties), 0, 2)
  return { type: 'object', properties, ...(required.length > 0 ? { required } : {}) }
}

const FIELDS: readonly Kind['draw'][] = [
  typed('string', 0, 2),
  typed('string', 0, 2),
  typed('integer', 0, 2),
  typed('number', 0, 2),
  (drawing, depth) => KINDS.boolean?.draw(drawing, depth) ?? true,
  (drawing, depth) => KINDS.choice?.draw(drawing, depth) ?? true,
]

/** Named objects, distinguished by a property, at a place of a whole schema. */
function drawDiscriminated(random: Random, dialect: Dialect): Schema {
  const choice = drawChoice(random, REFERENCES)
  const root = random.pick<Schema>([
    choice,
    choice,
    { type: 'object', properties: { a: choice }, required: ['a'] },
    { type: 'array', items: choice },
    { allOf: [choice] },
  ])
  const definitions = mapOf(DEFINITIONS, (name) => {
    const inside = mapOf(random.some(NAMES, 1, 2), () => drawSchema(drawingFor(random, dialect, name), 0))
    const tag = random.pick<Schema>([{ type: 'string' }, { type: 'string', enum: random.some(TAGS, 1, 2) }])
    return { type: 'object', properties: { ...inside, [TAG]: tag }, required: [TAG, ...Object.keys(inside)] }
  })
  return { ...Object(root), $defs: definitions }
}

/** A whole schema: a root and the definitions that it may refer to. */
function drawRoot(random: Random, dialect: Dialect): Schema {
  const drawing = drawingFor(random, dialect, null)
  const isForm = dialect.has.has('form') && random.chance(0.3)
  if (!isForm && dialect.has.has('discriminator') && random.chance(0.3)) return drawDiscriminated(random, dialect)
  const root = isForm ? drawForm(drawing) : drawSchema(drawing, random.between(1, 3))
  if (!dialect.has.has('reference')) return root
  const definitions = mapOf(DEFINITIONS, (name) => drawSchema(drawingFor(random, dialect, name), random.between(1, 2)))
  return isKeywords(root) ? { ...root, $defs: definitions } : { allOf: [root], $defs: definitions }
}

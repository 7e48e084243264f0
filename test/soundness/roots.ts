/** Whole schemas with the definitions that they refer to: any, those of forms, and choices with a discriminator. */
import type { Dialect } from './dialects.ts'
import { drawChoice, TAG, TAGS } from './discriminators.ts'
import type { Random } from './random.ts'
import { isKeywords, type Schema } from './schema.ts'
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
import { NAMES } from './values.ts'

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
export function drawRoot(random: Random, dialect: Dialect): Schema {
  const drawing = drawingFor(random, dialect, null)
  const isForm = dialect.has.has('form') && random.chance(0.3)
  if (!isForm && dialect.has.has('discriminator') && random.chance(0.3)) return drawDiscriminated(random, dialect)
  const root = isForm ? drawForm(drawing) : drawSchema(drawing, random.between(1, 3))
  if (!dialect.has.has('reference')) return root
  const definitions = mapOf(DEFINITIONS, (name) => drawSchema(drawingFor(random, dialect, name), random.between(1, 2)))
  return isKeywords(root) ? { ...root, $defs: definitions } : { allOf: [root], $defs: definitions }
}

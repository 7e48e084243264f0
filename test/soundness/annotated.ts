/** The same schemas in another form: definitions named by anchors, alternatives selected by a discriminator. */
import { entriesOf, isKeywords, mapped, placesOf, without, type Schema } from './schema.ts'

/** The same document with each definition named by an anchor, and referred to by it. */
export function anchored(written: Schema, definitions: string, anchor: string, reference: string): Schema {
  if (!isKeywords(written) || !isKeywords(written[definitions])) return written
  const folder = `#/${definitions}/`
  // A schema that is true or false has no place for an anchor.
  const named = new Map(Object.entries(written[definitions]).filter(([, one]) => isKeywords(one)))
  const refer = (one: Schema): Schema => {
    if (!isKeywords(one) || typeof one.$ref !== 'string' || !one.$ref.startsWith(folder)) return one
    const name = one.$ref.slice(folder.length)
    return named.has(name) ? { ...without(one, '$ref'), [reference]: `#${name}` } : one
  }
  const anchoredEntries = entriesOf(written[definitions]).map(([name, one]): [string, Schema] => {
    const definition = mapped(one, refer)
    return [name, isKeywords(definition) ? { ...definition, [anchor]: name } : definition]
  })
  const own = mapped(without(written, definitions), refer)
  return isKeywords(own) ? { ...own, [definitions]: Object.fromEntries(anchoredEntries) } : own
}

export function withDiscriminator(schema: Schema): Schema {
  if (!isKeywords(schema) || schema.discriminator !== undefined) return schema
  const named = [schema.oneOf, schema.anyOf].find(
    (list) => Array.isArray(list) && list.every((one) => isKeywords(one) && String(one.$ref).startsWith('#/$defs/')),
  )
  return named === undefined ? schema : { ...schema, discriminator: { propertyName: 'a' } }
}

/** Whether a schema has named alternatives. */
export function isAlternative(root: Schema): boolean {
  return [...placesOf(mapped(root, withDiscriminator))].some(
    ([, one]) => isKeywords(one) && one.discriminator !== undefined,
  )
}

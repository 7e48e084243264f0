/** Converts argument definitions with their own `required` flag, in language or JSON types, to JSON Schema. */
import { lookupTable } from '../../common/lookup-table.ts'
import { isRecord, type JsonRecord } from '../../schema/located.ts'

/** Python type names that some providers use. Other names are kept, so that a change of one is reported. */
const TYPES: Readonly<Record<string, string>> = lookupTable({
  str: 'string',
  int: 'integer',
  float: 'number',
  bool: 'boolean',
  list: 'array',
  dict: 'object',
})

export function schemaOfDefinitions(definitions: JsonRecord): JsonRecord {
  const entries = Object.entries(definitions)
  const required = entries.filter(([, one]) => isRecord(one) && one['required'] === true).map(([name]) => name)
  return {
    type: 'object',
    properties: Object.fromEntries(entries.map(([name, one]) => [name, isRecord(one) ? schemaOf(one) : {}])),
    required,
  }
}

function schemaOf({ required: _required, type, ...rest }: JsonRecord): JsonRecord {
  return { ...rest, type: typeof type === 'string' && Object.hasOwn(TYPES, type) ? TYPES[type] : type }
}

/** The configuration schema for authors: members with a default are optional. Editors, the chart and our own check use it. */
import { plainSchema, withoutDefaultedRequirements, type JsonSchema } from '../settings/input-schema.ts'
import { Config } from './schema.ts'

/** The content of a configuration file. */
export const configInputSchema: JsonSchema = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  ...withoutDefaultedRequirements(plainSchema(Config)),
}

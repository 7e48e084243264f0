/** The configuration schema as an author sees it: what has a default may be left out. Editors, the chart and our own check use it. */
import { plainSchema, withoutDefaultedRequirements, type JsonSchema } from '../settings/input-schema.ts'
import { Config } from './schema.ts'

/** What a configuration file may say. */
export const configInputSchema: JsonSchema = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  ...withoutDefaultedRequirements(plainSchema(Config)),
}

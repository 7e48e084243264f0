/** Where contract documents may be read from. Part of the schema of the configuration. */
import type { Static } from 'typebox'
import { Type } from '../../engine/base.ts'
import { integer, strict } from '../settings/fields.ts'

export const DiffSettings = strict(
  {
    allow_urls: Type.Array(Type.String({ minLength: 1 }), {
      default: [],
      description: 'Hosts that /api/diff may fetch documents from.',
    }),
    repository: Type.Optional(
      Type.String({ minLength: 1, description: 'Git working directory or bare repository for <ref>:<path>.' }),
    ),
    findings: integer(5000, 'Findings in one answer; the rest is counted'),
  },
  'The diff endpoint.',
)
export type DiffSettings = Static<typeof DiffSettings>

/** A configuration that says where documents are read from. */
export interface DocumentsConfig {
  readonly diff: DiffSettings
}

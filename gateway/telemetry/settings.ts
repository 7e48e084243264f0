/** Settings of the log. Part of the schema of the configuration. */
import type { Static } from 'typebox'
import { Type } from '../../engine/base.ts'
import { strict } from '../settings/fields.ts'
import { LOG_LEVELS } from './inspection.ts'

export const LogSettings = strict(
  {
    level: Type.Union(
      LOG_LEVELS.map((level) => Type.Literal(level)),
      { default: 'info', description: 'Least severe level that is written.' },
    ),
  },
  'Logs, JSON lines on stderr.',
)
export type LogSettings = Static<typeof LogSettings>

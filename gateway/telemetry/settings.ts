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
    requests: Type.Number({
      default: 0,
      minimum: 0,
      maximum: 1,
      description: 'Share of the requests that are logged when they end, one line each (event request.ended); 0: none.',
    }),
  },
  'Logs, JSON lines on stderr.',
)
export type LogSettings = Static<typeof LogSettings>

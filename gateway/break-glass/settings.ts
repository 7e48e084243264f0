/** Settings of exceptions to enforcement. Part of the schema of the configuration. */
import type { Static } from 'typebox'
import { Type } from '../../engine/base.ts'
import { period, strict } from '../settings/fields.ts'

export const BreakGlassSettings = strict(
  {
    roles: Type.Array(Type.Union([Type.Literal('approver'), Type.Literal('operator'), Type.Literal('admin')]), {
      default: ['operator', 'admin'],
      description: 'Roles whose keys may open and close exceptions.',
    }),
    maximum: period(3600, 'Maximum duration of an exception'),
  },
  'Exceptions to enforcement on a route, for emergencies.',
)
export type BreakGlassSettings = Static<typeof BreakGlassSettings>

/** The part of the configuration that exceptions read. */
export interface BreakGlassConfig {
  readonly break_glass: BreakGlassSettings
}

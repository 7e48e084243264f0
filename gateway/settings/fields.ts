/** Building blocks of the configuration's schema: sections, durations and counts that are said the same way everywhere. */
import type { TSchema } from 'typebox'
import { Type } from '../../engine/base.ts'

/** A section whose members are all known, and which may be left out. */
export const strict = <T extends Record<string, TSchema>>(properties: T, description: string) =>
  Type.Object(properties, { additionalProperties: false, description, default: {} })

export const seconds = (value: number, description: string, minimum = 1) =>
  Type.Number({ default: value, minimum, description: `${description} (seconds)` })

export const integer = (value: number, description: string, minimum = 1) =>
  Type.Integer({ default: value, minimum, description })

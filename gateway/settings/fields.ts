/** Building blocks of the configuration's schema: sections, durations and counts in one form everywhere. */
import type { TSchema } from 'typebox'
import { Type } from '../../engine/base.ts'

/** An optional section without unknown members. */
export const strict = <T extends Record<string, TSchema>>(properties: T, description: string) =>
  Type.Object(properties, { additionalProperties: false, description, default: {} })

export const seconds = (value: number, description: string, minimum = 1) =>
  Type.Number({ default: value, minimum, description: `${description} (seconds)` })

export const integer = (value: number, description: string, minimum = 1) =>
  Type.Integer({ default: value, minimum, description })

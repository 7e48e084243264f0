/** Building blocks of the configuration's schema: sections, durations and counts in one form everywhere. */
import type { TSchema } from 'typebox'
import { Type } from '../../engine/base.ts'

/** An optional section without unknown members. */
export const strict = <T extends Record<string, TSchema>>(properties: T, description: string) =>
  Type.Object(properties, { additionalProperties: false, description, default: {} })

/** Timers of Node.js wait at most 2^31 - 1 milliseconds. A longer one fires immediately. */
const LONGEST_TIMER = 2_147_483
/** Ten years. A longer one may end after the last moment that a date can express. */
export const LONGEST_PERIOD = 315_360_000

/** A time that the gateway waits for. */
export const seconds = (value: number, description: string, minimum = 1, maximum = LONGEST_TIMER) =>
  Type.Number({ default: value, minimum, maximum, description: `${description} (seconds)` })

/** A time that is compared with the clock: an age, or how long something is valid. */
export const period = (value: number, description: string, minimum = 1) =>
  seconds(value, description, minimum, LONGEST_PERIOD)

export const integer = (value: number, description: string, minimum = 1) =>
  Type.Integer({ default: value, minimum, maximum: Number.MAX_SAFE_INTEGER, description })

/** The interface of configuration checks: they report mistakes with it, and ask it about files. */
import { accessSync, constants } from 'node:fs'
import { errorCode } from '../errors/startup-error.ts'
import type { LocatedMistake } from './schema-mistakes.ts'

/** A mistake in the value at a JSON Pointer. */
export function mistakeAt(pointer: string, message: string, fix: string): LocatedMistake {
  return { pointer, at: 'value', message, fix }
}

/** Why a file cannot be read (`ENOENT` …); null when it can. */
export function accessProblem(file: string): string | null {
  try {
    accessSync(file, constants.R_OK)
    return null
  } catch (error) {
    return errorCode(error) ?? 'unknown error'
  }
}

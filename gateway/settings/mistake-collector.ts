/** The interface of configuration checks: they report mistakes with it, and ask it about files. */
import { accessSync, constants } from 'node:fs'
import { fileFault } from '../runtime/regular-file.ts'
import type { LocatedMistake } from './schema-mistakes.ts'

/** A mistake in the value at a JSON Pointer. */
export function mistakeAt(pointer: string, message: string, fix: string): LocatedMistake {
  return { pointer, at: 'value', message, fix }
}

/** A mistake that is none where the sections are given. */
export function absenceAt(pointer: string, absent: readonly string[], message: string, fix: string): LocatedMistake {
  return { pointer, at: 'value', message, fix, absent }
}

/** The fix where a setting names a file that is not there. */
export const CORRECT_PATH = 'correct the path; a relative one starts at the folder of the configuration file'

/** Why a file cannot be read, with its name and the code of the file system; null when it can. */
export function accessProblem(file: string): string | null {
  try {
    accessSync(file, constants.R_OK)
    return null
  } catch (error) {
    return fileFault(file, error)
  }
}

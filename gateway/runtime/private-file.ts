/** Files that hold secrets: written whole or not at all, durable, readable by this user only; a fault is reported with its remedy. */
import { closeSync, fsyncSync, mkdirSync, openSync, renameSync, writeSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { errorCode, messageOf, StartupError } from '../errors/startup-error.ts'
import { makeTemporaryFile, readRegularFile, statsOf } from './regular-file.ts'

/** Makes a directory for this user only, with the directories above it. Throws the error of the file system. */
export function makePrivateDirectory(directory: string): void {
  makeDirectory(directory, 0o700)
}

/**
 * Makes a directory with the directories above it. Not `mkdir` with `recursive`: where the system answers ENOENT below a
 * directory that exists (/proc), Node.js tries again without end. Throws the error of the file system.
 */
export function makeDirectory(directory: string, mode: number): void {
  const missing: string[] = []
  for (let path = resolve(directory); statsOf(path) === null; path = dirname(path)) missing.push(path)
  for (const path of missing.toReversed()) makeUnlessPresent(path, mode)
  if (statsOf(directory)?.isDirectory() !== true)
    throw Object.assign(new Error(`${directory} is not a directory`), { code: 'ENOTDIR' })
}

/** Another process may make the same directory at the same time. */
function makeUnlessPresent(path: string, mode: number): void {
  try {
    mkdirSync(path, { mode })
  } catch (error) {
    if (errorCode(error) !== 'EEXIST') throw error
  }
}

/** A crash leaves the old file or the new one. Throws the error of the file system. */
export function writePrivateFile(file: string, text: string): void {
  const temporary = `${file}.${process.pid}.tmp`
  const descriptor = makeTemporaryFile(temporary)
  try {
    writeSync(descriptor, text)
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
  renameSync(temporary, file)
  const directory = openSync(dirname(file), 'r')
  try {
    fsyncSync(directory)
  } finally {
    closeSync(directory)
  }
}

/** What a private file is, and what its owner can do when its content is not what it should be. */
export interface PrivateFileKind {
  /** As the subject of a sentence, e.g. `The receipt keys`. */
  readonly subject: string
  readonly remedy: string
}

/** The text; null when there is no such file. Throws a StartupError when it cannot be read. */
export function readPrivateFile(file: string, kind: PrivateFileKind): string | null {
  try {
    return readRegularFile(file, 'utf8')
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return null
    const isForbidden = ['EACCES', 'EPERM'].includes(errorCode(error) ?? '')
    const remedy = isForbidden
      ? 'It must belong to the user that runs the gateway (chown), with mode 600.'
      : kind.remedy
    throw unusableFile(file, { ...kind, remedy }, messageOf(error), error)
  }
}

export function unusableFile(file: string, kind: PrivateFileKind, reason: string, cause?: unknown): StartupError {
  return new StartupError(`${kind.subject} ${file} cannot be read: ${reason}. ${kind.remedy}`, { cause })
}

/** Those of the files that every user of the machine may read. A group may: volumes of a pod are shared through theirs. */
export function exposedFiles(files: readonly string[]): readonly string[] {
  return files.filter((file) => ((statsOf(file)?.mode ?? 0) & 0o004) !== 0)
}

/** Replaces a file of somebody else's: whole or not at all, with its mode, and through a symbolic link. */
import { closeSync, fchmodSync, fsyncSync, realpathSync, renameSync, statSync, writeSync } from 'node:fs'
import { makeTemporaryFile } from '../runtime/regular-file.ts'

export function replaceFile(file: string, text: string): void {
  const target = realpathSync(file)
  const temporary = `${target}.preflight-${process.pid}`
  const descriptor = makeTemporaryFile(temporary)
  try {
    fchmodSync(descriptor, statSync(target).mode & 0o777)
    writeSync(descriptor, text)
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
  renameSync(temporary, target)
}

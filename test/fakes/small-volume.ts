/** A real file system of a given size (tmpfs), which can be filled and gets its room back. It goes with the test. */
import { spawnSync } from 'node:child_process'
import { closeSync, mkdtempSync, openSync, rmSync, statSync, truncateSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'

export interface SmallVolume {
  readonly folder: string
  /** Takes all the room that is left. */
  fill(): void
  /** Gives back what `fill` took, or so many megabytes of it. */
  makeRoom(megabytes?: number): void
}

/** Null: this user may not mount a file system, and the test is skipped. */
export function smallVolume(t: TestContext, megabytes: number): SmallVolume | null {
  const folder = mkdtempSync(join(tmpdir(), 'preflight-volume-'))
  const options = ['-t', 'tmpfs', '-o', `size=${megabytes}m`, 'tmpfs', folder]
  if (spawnSync('mount', options).status !== 0) {
    rmSync(folder, { recursive: true })
    t.skip('this user may not mount a file system')
    return null
  }
  t.after(() => {
    spawnSync('umount', ['--lazy', folder])
    rmSync(folder, { recursive: true, force: true })
  })
  const filler = join(folder, 'filler')
  return {
    folder,
    fill() {
      const file = openSync(filler, 'a')
      // The last bytes too: a file system gives out whole pages.
      for (const size of [1_048_576, 4096]) while (isWritten(file, size));
      closeSync(file)
    },
    makeRoom(megabytes) {
      if (megabytes === undefined) rmSync(filler, { force: true })
      else truncateSync(filler, statSync(filler).size - megabytes * 1_048_576)
    },
  }
}

function isWritten(file: number, size: number): boolean {
  try {
    return writeSync(file, Buffer.alloc(size)) === size
  } catch {
    // No space left.
    return false
  }
}

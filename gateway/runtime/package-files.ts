/** Files that ship beside the code: found from the sources and from the compiled package alike (one folder deeper). */
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The folder that holds package.json and policies/. */
export function packageFolder(): string {
  for (let folder = dirname(fileURLToPath(import.meta.url)); ; folder = dirname(folder)) {
    if (existsSync(join(folder, 'policies')) && existsSync(join(folder, 'package.json'))) return folder
    if (folder === dirname(folder)) throw new Error('the package is not whole: package.json or policies/ is missing')
  }
}

export function packageVersion(): string {
  const manifest: unknown = JSON.parse(readFileSync(join(packageFolder(), 'package.json'), 'utf8'))
  const hasVersion = typeof manifest === 'object' && manifest !== null && 'version' in manifest
  return hasVersion && typeof manifest.version === 'string' ? manifest.version : 'unknown'
}

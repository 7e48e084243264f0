/**
 * Builds workspaces for their tarballs: compiled JavaScript with types in `dist/`, and the files that ship beside it. `npm pack`
 * runs it before packing, and with `--clean` after it. The gateway's relative imports of the engine become imports of the package.
 *
 * usage: build-package.ts WORKSPACE [WORKSPACE ...] [--clean]
 */
import { execFileSync } from 'node:child_process'
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'

const ROOT = join(import.meta.dirname, '..')
const COMPILER = join(ROOT, 'node_modules/.bin/tsc')

/** What ships beside the code, by workspace: paths from the root. */
const BESIDE: Readonly<Record<string, readonly string[]>> = {
  engine: ['LICENSE'],
  gateway: ['LICENSE', 'policies'],
}

const ENGINE_IMPORT = /(['"`])(?:\.\.\/)+engine\/(index|internal|base)(?:\.js|\.ts|\$\{ENDING\})\1/g

function asPackageImport(_match: string, quote: string, entry: string): string {
  return `${quote}preflight-engine${entry === 'index' ? '' : `/${entry}`}${quote}`
}

function clean(workspace: string): void {
  for (const path of ['dist', ...(BESIDE[workspace] ?? [])])
    rmSync(join(ROOT, workspace, path), { recursive: true, force: true })
}

/** @param compiled folder of the compiled sources of all workspaces */
function assemble(workspace: string, compiled: string): void {
  const dist = join(ROOT, workspace, 'dist')
  cpSync(join(compiled, workspace), dist, { recursive: true })
  for (const name of readdirSync(dist, { recursive: true, encoding: 'utf8' })) {
    if (!/\.(?:js|d\.ts)$/.test(name)) continue
    const path = join(dist, name)
    const text = readFileSync(path, 'utf8')
    writeFileSync(path, text.replaceAll(ENGINE_IMPORT, asPackageImport))
  }
  for (const path of BESIDE[workspace] ?? []) cpSync(join(ROOT, path), join(ROOT, workspace, path), { recursive: true })
}

function build(workspaces: readonly string[]): void {
  const compiled = mkdtempSync(join(tmpdir(), 'preflight-build-'))
  try {
    execFileSync(COMPILER, ['-p', join(ROOT, 'tsconfig.build.json'), '--outDir', compiled], { stdio: 'inherit' })
    for (const workspace of workspaces) assemble(workspace, compiled)
  } finally {
    rmSync(compiled, { recursive: true, force: true })
  }
}

const { values, positionals } = parseArgs({ options: { clean: { type: 'boolean' } }, allowPositionals: true })
const unknown = positionals.filter((name) => !Object.hasOwn(BESIDE, name))
if (positionals.length === 0 || unknown.length > 0)
  throw new Error(`Name workspaces: ${Object.keys(BESIDE).join(', ')}. Unknown: ${unknown.join(', ') || 'none'}.`)
positionals.forEach(clean)
if (values.clean !== true) build(positionals)

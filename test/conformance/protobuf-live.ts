/** What `buf breaking` says of pairs of contracts now, all of them in one run of the program; ours of the same pairs. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { bufRulesOf } from '../../engine/rules/protobuf/rows.ts'
import { comparedProtobuf } from '../engine/protobuf/contracts.ts'
import { textAt } from '../json.ts'
import type { ProtoPair, ProtoTexts } from './protobuf-pairs.ts'
import { CATEGORIES, without } from './protobuf-run.ts'

const BUF = new URL('../../node_modules/.bin/buf', import.meta.url).pathname

export const hasBuf = existsSync(BUF)

/** One finding of buf on a pair, with its message. */
export interface BufVerdict {
  readonly rule: string
  readonly message: string
}

export interface LiveOutcome {
  readonly pair: ProtoPair
  readonly verdicts: readonly BufVerdict[]
  /** Rules of buf: reported by buf only, and reported by the engine only. */
  readonly missing: readonly string[]
  readonly surplus: readonly string[]
}

export function askBuf(pairs: readonly ProtoPair[]): readonly LiveOutcome[] {
  const named = pairs.map((pair, index) => ({ pair, id: `pair${String(index).padStart(5, '0')}` }))
  const folder = mkdtempSync(join(tmpdir(), 'preflight-buf-'))
  try {
    for (const { pair, id } of named) {
      writeTexts(join(folder, 'before'), pair.before, id)
      writeTexts(join(folder, 'after'), pair.after, id)
    }
    const reported = runBuf(folder)
    return named.map(({ pair, id }) => {
      const verdicts = reported.get(id) ?? []
      const expected = verdicts.map(({ rule }) => rule)
      const ours = rulesOf(pair, id)
      return { pair, verdicts, missing: without(expected, ours), surplus: without(ours, expected) }
    })
  } finally {
    rmSync(folder, { recursive: true })
  }
}

function named(texts: ProtoTexts, id: string): ProtoTexts {
  return Object.fromEntries(
    Object.entries(texts).map(([path, text]) => [path.replaceAll('$', id), text.replaceAll('$', id)]),
  )
}

function writeTexts(folder: string, texts: ProtoTexts, id: string): void {
  for (const [path, text] of Object.entries(named(texts, id))) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), text)
  }
}

/** Exit code of `buf breaking` where it has something to say. */
const FOUND = 100

function runBuf(folder: string): ReadonlyMap<string, readonly BufVerdict[]> {
  const config = JSON.stringify({ version: 'v2', breaking: { use: CATEGORIES } })
  for (const side of ['before', 'after']) writeFileSync(join(folder, side, 'buf.yaml'), config)
  const run = spawnSync(BUF, ['breaking', 'after', '--against', 'before', '--error-format', 'json'], {
    cwd: folder,
    encoding: 'utf8',
    env: { ...process.env, BUF_CACHE_DIR: join(folder, 'cache') },
    maxBuffer: 256 * 1024 * 1024,
  })
  assert.equal(run.status, FOUND, `buf could not compare: ${run.stderr.slice(0, 2000)}`)
  const reported = new Map<string, BufVerdict[]>()
  for (const line of run.stdout.split('\n').filter((text) => text !== '')) {
    const entry: unknown = JSON.parse(line)
    const verdict = { rule: textAt(entry, 'type'), message: textAt(entry, 'message') }
    // It ends alike where it cannot build what it is given.
    assert.notEqual(verdict.rule, 'COMPILE', line)
    // What is gone has no path; its sentence names it.
    const id = /pair\d{5}/.exec(line)?.[0] ?? assert.fail(line)
    reported.set(id, [...(reported.get(id) ?? []), verdict])
  }
  return reported
}

function rulesOf({ before, after }: ProtoPair, id: string): readonly string[] {
  const { groups } = comparedProtobuf(JSON.stringify(named(before, id)), JSON.stringify(named(after, id)))
  return groups.flatMap(({ rule }) => bufRulesOf(rule))
}

/** Verdicts on protobuf files, compared with buf as it is installed. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { protoPairs, type ProtoPair, type ProtoTexts } from './protobuf-pairs.ts'
import { bufRulesOf } from '../../engine/rules/protobuf/rows.ts'
import { comparedProtobuf } from '../engine/protobuf/contracts.ts'
import { textAt } from '../json.ts'
import { CATEGORIES, without } from './protobuf-run.ts'

const BUF = new URL('../../node_modules/.bin/buf', import.meta.url).pathname

const hasBuf = existsSync(BUF)

/** One finding of buf on a pair, with its message. */
interface BufVerdict {
  readonly rule: string
  readonly message: string
}

interface LiveOutcome {
  readonly pair: ProtoPair
  readonly verdicts: readonly BufVerdict[]
  /** Rules of buf: reported by buf only, and reported by the engine only. */
  readonly missing: readonly string[]
  readonly surplus: readonly string[]
}

function askBuf(pairs: readonly ProtoPair[]): readonly LiveOutcome[] {
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

/** A kind of difference that is meant: docs/protobuf.md tells the same to users. */
interface Difference {
  readonly because: string
  /** Whether it is why one of the two alone reports a rule. */
  readonly explains: (rule: string, by: 'buf' | 'engine', outcome: LiveOutcome) => boolean
}

const ENTRY = /Entry["\s]/
const EDITION_2024 = /edition = .{0,2}2024/

const DIFFERENCES: readonly Difference[] = [
  {
    because: 'buf tells the messages that the compiler makes of map fields beside the fields',
    explains: (rule, by, { verdicts }) =>
      by === 'buf' && verdicts.some((verdict) => verdict.rule === rule && ENTRY.test(verdict.message)),
  },
  {
    because: 'buf looks for the label `required`, not for the feature that means the same',
    explains: (rule, _, { pair }) =>
      rule === 'MESSAGE_SAME_REQUIRED_FIELDS' && JSON.stringify(pair).includes('LEGACY_REQUIRED'),
  },
  {
    because: 'buf does not tell the last message, enum or extension that leaves a package which stays',
    explains: (rule, by) => by === 'engine' && /^PACKAGE_(?:MESSAGE|ENUM|EXTENSION)_NO_DELETE$/.test(rule),
  },
  {
    because: 'buf reads the option for files of Java, not the feature of edition 2024 that takes its place',
    explains: (rule, by, { pair }) =>
      by === 'engine' &&
      rule === 'FILE_SAME_JAVA_MULTIPLE_FILES' &&
      EDITION_2024.test(JSON.stringify(pair.before)) !== EDITION_2024.test(JSON.stringify(pair.after)),
  },
]

test('changes of every kind get buf’s verdicts, asked now, but for the differences that are meant', (t) => {
  if (!hasBuf) {
    assert.notEqual(process.env['CI'], 'true', 'npm ci installs buf')
    return t.skip('buf is not installed')
  }
  const outcomes = askBuf(protoPairs())
  const used = new Set<Difference>()
  const isUnexpected = (rule: string, by: 'buf' | 'engine', outcome: LiveOutcome): boolean => {
    const difference = DIFFERENCES.find(({ explains }) => explains(rule, by, outcome))
    if (difference !== undefined) used.add(difference)
    return difference === undefined
  }
  const lines = outcomes.flatMap((outcome) => {
    const missing = outcome.missing.filter((rule) => isUnexpected(rule, 'buf', outcome))
    const surplus = outcome.surplus.filter((rule) => isUnexpected(rule, 'engine', outcome))
    if (missing.length + surplus.length === 0) return []
    return [`${outcome.pair.name}: missing ${missing.join(', ')}; surplus ${surplus.join(', ')}`]
  })
  assert.deepEqual(lines, [])
  assert.deepEqual(
    DIFFERENCES.filter((difference) => !used.has(difference)).map(({ because }) => because),
    [],
    'a difference that is no more',
  )
  assert.ok(outcomes.length > 1500 && outcomes.filter(({ verdicts }) => verdicts.length > 0).length > 1000)
})

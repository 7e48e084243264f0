/** What users of the gateway and of the packages match on, pinned by literals: only ever appended to (law 6 of CONTRIBUTING.md). */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { EXIT, type Command } from '../../gateway/cli/command.ts'
import { allCommands } from '../../gateway/cli/main.ts'
import { ERRORS } from '../../gateway/errors/errors.ts'
import { CONFIG_LEAVES } from '../../gateway/config/leaves.ts'
import { assertPinned, assertTable } from '../pinned.ts'
import { METRICS, type MetricSpec } from '../../gateway/telemetry/metric-table.ts'

const ROOT = new URL('../../', import.meta.url)

test('error codes with their status', () => {
  assertPinned(
    Object.entries(ERRORS).map(([code, { status }]) => `${code}\t${status}`),
    'error-codes',
  )
})

function rowsOf(path: string, { name, operands, options }: Command): readonly string[] {
  const called = `${path} ${name}`
  return [
    `${called}\t${operands || 'no operands'}`,
    ...options.map((option) => `${called}\t--${option.name}${option.value === undefined ? '' : ` ${option.value}`}`),
  ]
}

test('commands with their operands and flags, and the exit codes', async () => {
  const entries = await allCommands()
  const rows = entries.flatMap((entry) =>
    'commands' in entry
      ? [
          ...entry.commands.flatMap((command) => rowsOf(`preflight ${entry.name}`, command)),
          ...(entry.direct === undefined ? [] : rowsOf('preflight', entry.direct)),
        ]
      : rowsOf('preflight', entry),
  )
  assertPinned([...rows, ...Object.entries(EXIT).map(([name, code]) => `exit\t${code} ${name}`)], 'command-line')
})

test('configuration keys and their variables', () => {
  const rows = CONFIG_LEAVES.map(({ path, env, aliases }) => [path, env ?? '-', aliases.join(',') || '-'])
  assertTable('path\tvariable\tpromised names', rows, 'config-keys')
})

test('metrics with their kinds and labels', () => {
  const specs: readonly MetricSpec[] = METRICS
  const rows = specs.map(({ name, type, labels }) => [name, type, labels.join(',') || '-'])
  assertTable('name\ttype\tlabels', rows, 'metrics')
})

/** Names that a face exports, types among them. */
function namesOf(path: string): readonly string[] {
  const text = readFileSync(new URL(path, ROOT), 'utf8')
  const lists = [...text.matchAll(/^export (?:type )?\{([^}]*)\}/gm)].flatMap(([, list = '']) => list.split(','))
  const own = [...text.matchAll(/^export (?:interface|type|const|function|class) (\w+)/gm)].map(([, name = '']) => name)
  return [...lists.map((name) => name.trim().replace(/^type /, '')), ...own].filter((name) => name !== '')
}

const FACES = [
  { name: 'preflight-engine', path: 'engine/index.ts' },
  { name: 'preflight-gateway', path: 'gateway/index.ts' },
  { name: 'preflight-gateway/client', path: 'gateway/client.ts' },
]

test('public exports of the packages', async () => {
  for (const { path } of FACES) {
    const face: object = await import(new URL(path, ROOT).href)
    const names = namesOf(path)
    assert.deepEqual(
      Object.keys(face).filter((name) => !names.includes(name)),
      [],
      'every export is read',
    )
  }
  assertPinned(
    FACES.flatMap(({ name, path }) => namesOf(path).map((exported) => `${name}\t${exported}`)),
    'public-exports',
  )
})

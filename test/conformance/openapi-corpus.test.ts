/** Real contracts against the reference's recorded lists: the multiset of rule, level, method and path, but for the deviations that are listed with a reason. */
import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { suite, test } from 'node:test'
import { load } from 'js-yaml'
import { listAt, textAt } from '../json.ts'
import { readReferenceRules, type Verdict } from './openapi-cases.ts'
import { compareInEngine, runCases, type CaseOutcome } from './openapi-run.ts'

const CORPUS = new URL('../../../shared/corpus/openapi/', import.meta.url)
const absent = 'the corpus lies beside the checkout and is absent'
const hasCorpus = existsSync(CORPUS)

/** On this day the lists were recorded. */
const TODAY = '2026-11-21'

const LEVELS: Readonly<Record<string, string>> = { ERR: 'breaking', WARN: 'dangerous', INFO: 'info' }

interface Deviation {
  readonly pairs: readonly string[]
  readonly rules: readonly string[]
  readonly reason: string
}

const deviations: readonly Deviation[] = listAt(
  load(readFileSync(new URL('corpus-deviations.yaml', import.meta.url), 'utf8')),
  'deviations',
).map((row) => ({
  pairs: listAt(row, 'pairs').map(String),
  rules: listAt(row, 'rules').map(String),
  reason: textAt(row, 'reason'),
}))

function textOf(name: string, side: string): string {
  const file = ['json', 'yaml'].map((ending) => new URL(`${name}/${side}.${ending}`, CORPUS)).find(existsSync)
  assert.ok(file, `${name} has no ${side}`)
  return readFileSync(file, 'utf8')
}

function recorded(name: string): readonly Verdict[] {
  const known = readReferenceRules()
  const list: unknown = JSON.parse(readFileSync(new URL(`${name}/reference.json`, CORPUS), 'utf8'))
  return listAt(list, 'items').map((item) => {
    const [rule, method, path] = [textAt(item, 'id'), textAt(item, 'operation'), textAt(item, 'path')]
    assert.ok(known.has(rule), rule)
    const level = LEVELS[textAt(item, 'level')] ?? ''
    return { rule, level, method: method === '' ? null : method, path: path === '' ? null : path }
  })
}

/** Rules on which the pair differs. */
function differingRules({ missing, surplus }: CaseOutcome): ReadonlySet<string> {
  return new Set([...missing, ...surplus].map(({ rule }) => rule))
}

suite('real contracts', () => {
  const page = readFileSync(new URL('../../docs/rules-deviations.md', import.meta.url), 'utf8')

  test('are judged as the reference judges them, but for what is listed with a reason', async (t) => {
    if (!hasCorpus) return t.skip(absent)
    const names = readdirSync(CORPUS).filter((name) => existsSync(new URL(`${name}/reference.json`, CORPUS)))
    assert.ok(names.length >= 20)
    const cases = names.map((id) => ({
      id,
      base: textOf(id, 'before'),
      head: textOf(id, 'after'),
      options: { today: TODAY },
      expect: recorded(id),
    }))
    const outcomes = await runCases(cases, compareInEngine)
    const differing = new Map(outcomes.map((outcome) => [outcome.id, differingRules(outcome)]))
    const unexpected = [...differing].flatMap(([name, rules]) =>
      [...rules]
        .filter((rule) => !deviations.some((row) => row.pairs.includes(name) && row.rules.includes(rule)))
        .map((rule) => `${name}: ${rule}`),
    )
    assert.deepEqual(unexpected, [])
    assert.deepEqual(
      deviations.flatMap((row) => staleParts(row, differing)),
      [],
    )
    const same = [...differing.values()].filter(({ size }) => size === 0).length
    assert.ok(page.includes(`On ${same} of them the lists are the same`), String(same))
    assert.ok(same >= 9)
  })

  test('deviate for reasons that the documentation names, pair by pair', () => {
    for (const { pairs, reason } of deviations) {
      assert.ok(reason.length > 40)
      for (const name of pairs) assert.ok(page.includes(name), `${name} is not in docs/rules-deviations.md`)
    }
  })
})

/** Pairs and rules of an entry that differ no more. */
function staleParts(
  { pairs, rules }: Deviation,
  differing: ReadonlyMap<string, ReadonlySet<string>>,
): readonly string[] {
  const differs = (name: string, rule: string): boolean => differing.get(name)?.has(rule) ?? false
  return [
    ...pairs.filter((name) => !rules.some((rule) => differs(name, rule))),
    ...rules.filter((rule) => !pairs.some((name) => differs(name, rule))),
  ]
}

/** Mutants change behaviour in one place each, and nothing that no test could see. */
import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { test } from 'node:test'
import { mutantsOf, mutated } from './mutants.ts'
import { SUITES } from './suites.ts'

const SOURCE = `import { a } from './a.ts'
type Kind = 'x' | 'y'
export function f(kind: Kind, list: readonly number[]): boolean {
  if (kind === 'x') return list.some((n) => n > 1 && !a(n))
  return true
}
`

test('each mutant is another program that still reads as one, and the types stay as they are', () => {
  const { code, mutants } = mutantsOf(SOURCE)
  const programs = mutants.map((mutant) => mutated(code, mutant))
  assert.equal(new Set(programs).size, mutants.length)
  for (const program of programs) {
    assert.notEqual(program, code)
    assert.match(program, /^import \{ a \} from '\.\/a\.ts'/)
    mutantsOf(program)
  }
  assert.deepEqual(mutants.map(({ what }) => what).toSorted(), [
    'line 4: ! → nothing',
    'line 4: && → ||',
    'line 4: \'x\' → "mutant"',
    'line 4: 1 → 2',
    'line 4: === → !==',
    'line 4: > → <=',
    "line 4: kind === 'x' → false",
    "line 4: kind === 'x' → true",
    'line 4: some → every',
    'line 5: true → false',
  ])
})

test('suites leave out files that are there, each with a reason', () => {
  for (const { folder, left } of SUITES)
    for (const [name, reason] of Object.entries(left)) {
      assert.ok(existsSync(new URL(`../../${folder}/${name}`, import.meta.url)), name)
      assert.ok(reason.length > 10)
    }
})

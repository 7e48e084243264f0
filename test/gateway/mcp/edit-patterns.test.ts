/** Paths of edits that name a contract by a pattern, a short name, other letters or another form of Unicode: never run unjudged. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { guardTools, isFilePattern, type GuardOptions } from '../../../engine/internal.ts'
import { createSelector } from '../../../gateway/scm/selector.ts'
import { mayMeet, shortNames } from '../../../gateway/scm/pattern-overlap.ts'

const GUARDED = 'contracts/café/openapi.yaml'
const PATTERNS = [
  'contracts/*/openapi.yaml',
  'contracts/**/openapi.yaml',
  '**/openapi.yaml',
  'contracts/café/*',
  'contracts/café/*.yaml',
  'contracts/café/openapi.y?ml',
  'contracts/café/openapi.ya*',
  'contracts/café/[o]penapi.yaml',
  'contracts/café/[!x]penapi.yaml',
  'contracts/café/[a-z]penapi.yaml',
  'contracts/café/{openapi,readme}.yaml',
  'contracts/{café,tea}/openapi.{yaml,md}',
  'contracts/café/OPENAP~1.YAM',
  'contracts/café/OP1A2B~3.YAM',
  'CONTRA~1/café/openapi.yaml',
  'CONTRA~1\\CAF~1\\OPENAP~1.YAM',
  'contracts/café/%2A.yaml',
]
const OTHER_LETTERS = [
  'Contracts/Café/OpenAPI.yaml',
  'CONTRACTS/CAFÉ/OPENAPI.YAML',
  GUARDED.normalize('NFD'),
  GUARDED.normalize('NFD').toUpperCase(),
  'contracts/cafe\u0301/openapi.yaml',
  'contracts/café/\u006F\u0070\u0065\u006E\u0061\u0070\u0069.yaml',
  'contract\u017F/café/openapi.yaml',
  '\uFF43ontracts/café/openapi.yaml',
]
const OTHER_FILES = [
  'README.md',
  'src/*.ts',
  'app/[id]/page.tsx',
  'app/[...slug]/page.tsx',
  'docs/PROGRA~1.TXT',
  'contracts/café/*.md',
  'contracts/{tea,milk}/openapi.yaml',
]

const options: GuardOptions = {
  operation: 'merge',
  root: '/repo',
  typeOf: (path) => (path === GUARDED ? null : 'none'),
  readFile: () => Promise.resolve(null),
  preflight: () => Promise.reject(new Error('asked')),
  verify: () => Promise.reject(new Error('asked')),
  sha256: () => '',
  now: () => 0,
}

const selectors = {
  'in plain letters': createSelector({ types: ['openapi'], globs: ['contracts/café/*.yaml'] }),
  decomposed: createSelector({ types: ['openapi'], globs: ['contracts/café/*.yaml'.normalize('NFD')] }),
  'in capitals': createSelector({ types: ['openapi'], globs: ['Contracts/Café/*.{yaml,yml}'] }),
  'across folders': createSelector({ types: ['openapi'], globs: ['**/openapi.{yaml,json}'] }),
}
const plain = (path: string): string => path.replaceAll('\\', '/').replaceAll('%2A', '*').normalize('NFKC')

describe('a path that may name a contract', () => {
  for (const path of [...PATTERNS, ...OTHER_LETTERS]) {
    it(`${path} does not run unjudged in the guard`, async () => {
      const { write } = guardTools({ write: (_args: object) => 'ran' }, options)
      assert.equal((await write({ path, content: 'x' })).executed, false)
    })

    for (const [how, selector] of Object.entries(selectors))
      it(`${path} is looked at by the proxy where the globs are ${how}`, () =>
        assert.ok(selector.mayBeSelected(plain(path))))
  }

  for (const path of PATTERNS) it(`${path} has no single reading`, () => assert.ok(isFilePattern(path)))
})

describe('a path of another file', () => {
  for (const path of OTHER_FILES)
    it(`${path} is not looked at by the proxy`, () => assert.ok(!selectors['in plain letters'].mayBeSelected(path)))

  for (const path of ['README.md', 'app/[id]/page.tsx', 'app/[...slug]/page.tsx', 'a~b/c.ts', '~/notes.md'])
    it(`${path} runs in the guard`, async () => {
      const { write } = guardTools({ write: (_args: object) => 'ran' }, options)
      assert.equal((await write({ path, content: 'x' })).executed, true)
    })
})

describe('two patterns', () => {
  for (const [one, other, want] of [
    ['a*c', 'ab*', true],
    ['a*c', 'b*', false],
    ['*', 'a/b', false],
    ['**', 'a/b', true],
    ['**/x', 'x', true],
    ['a?c', 'abc', true],
    ['a?c', 'a/c', false],
    ['*a*b*', '*b*a*', true],
    ['{a,b}/c', 'b/*', true],
    ['{a..z}', 'q', true],
    ['', '', true],
    ['', 'a', false],
    ['*a'.repeat(200), '*b'.repeat(200), false],
  ] as const)
    it(`${one.slice(0, 20)} and ${other.slice(0, 20)} ${want ? 'may name' : 'never name'} one file`, () => {
      assert.equal(mayMeet(one, other), want)
      assert.equal(mayMeet(other, one), want)
    })

  it('short names keep the two letters that they begin with', () => {
    assert.equal(shortNames('CONTRA~1/OP1A2B~3.YAM'), 'CO*/OP*.YAM*')
    assert.equal(shortNames('a/b.yaml'), 'a/b.yaml')
  })
})

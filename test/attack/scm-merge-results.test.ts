/**
 * Merges in which git does more than the changed files of the head show. It follows renames, and a rebase repeats commits one by
 * one. Branches that merged each other have several common ancestors. git itself makes each merge here: whatever it does to a
 * contract must not come out as no change.
 */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { deriveChangeSet } from '../../gateway/scm/derivation.ts'
import { openLocalRepository } from '../../gateway/scm/local-repository.ts'
import { derivationTerms, openapi } from '../fakes/scm-client.ts'

const CONTRACT = 'api/openapi.yaml'
const PATHS = Array.from({ length: 8 }, (_, index) => `/p${index}`)
const OLD = openapi(...PATHS)
const NEW = openapi(...PATHS, '/more')
const BROKEN = openapi(...PATHS.slice(1))

type Changes = Readonly<Record<string, string | null>>

/** A repository on the disk. */
interface Tree {
  readonly git: (...args: readonly string[]) => string
  readonly commit: (changes: Changes) => void
}

function repositoryAt(folder: string): Tree {
  // Of several merge bases git names the newest one.
  let seconds = 1_700_000_000
  const git = (...args: readonly string[]): string =>
    execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@example.com', ...args], {
      cwd: folder,
      encoding: 'utf8',
      env: { ...process.env, GIT_COMMITTER_DATE: `${(seconds += 60)} +0000` },
      stdio: ['ignore', 'pipe', 'pipe'],
    }).trim()
  return {
    git,
    commit(changes) {
      for (const [path, content] of Object.entries(changes)) {
        const at = join(folder, path)
        mkdirSync(dirname(at), { recursive: true })
        if (content === null) rmSync(at)
        else writeFileSync(at, content)
      }
      git('add', '--all')
      git('commit', '--quiet', '--message', 'change')
    },
  }
}

interface Attempt {
  readonly what: string
  readonly kind: 'merge' | 'rebase'
  /** On `main` at first, which has CONTRACT; leaves `main` and `feature` as they are to be merged. */
  readonly build: (tree: Tree) => void
  /** What git makes of the contract, where it is then. */
  readonly result: readonly [path: string, text: string]
  readonly problem?: RegExp
}

const ATTEMPTS: readonly Attempt[] = [
  {
    what: 'a change of a contract that the base moved',
    kind: 'merge',
    build({ git, commit }) {
      git('checkout', '-q', '-b', 'feature')
      commit({ [CONTRACT]: BROKEN })
      git('checkout', '-q', 'main')
      commit({ [CONTRACT]: null, 'v1/openapi.yaml': OLD })
    },
    result: ['v1/openapi.yaml', BROKEN],
    problem: /moved or removed/,
  },
  {
    what: 'a change of a text that the base made a contract',
    kind: 'merge',
    build({ git, commit }) {
      commit({ 'draft.txt': OLD })
      git('checkout', '-q', '-b', 'feature')
      commit({ 'draft.txt': BROKEN })
      git('checkout', '-q', 'main')
      commit({ 'draft.txt': null, 'v2/openapi.yaml': OLD })
    },
    result: ['v2/openapi.yaml', BROKEN],
    problem: /draft\.txt.*v2\/openapi\.yaml/,
  },
  {
    what: 'a head that merged the base partly, and the base the head',
    kind: 'merge',
    build({ git, commit }) {
      git('branch', 'feature')
      commit({ [CONTRACT]: NEW })
      git('branch', 'earlier')
      git('checkout', '-q', 'feature')
      commit({ 'a.txt': 'a' })
      git('checkout', '-q', 'main')
      git('merge', '-q', '--no-ff', '-m', 'one', 'feature')
      git('checkout', '-q', 'feature')
      git('merge', '-q', '--no-ff', '--strategy=ours', '-m', 'two', 'earlier')
    },
    result: [CONTRACT, OLD],
    problem: /merged parts of each other/,
  },
  {
    what: 'a rebase of a commit and its reversal',
    kind: 'rebase',
    build({ git, commit }) {
      git('checkout', '-q', '-b', 'feature')
      commit({ [CONTRACT]: NEW })
      commit({ [CONTRACT]: OLD, 'a.txt': 'a' })
      git('checkout', '-q', 'main')
      commit({ [CONTRACT]: NEW, 'b.txt': 'b' })
    },
    result: [CONTRACT, OLD],
    problem: /rebase repeats/,
  },
  {
    what: 'a rebase that leaves out what a merge commit took back',
    kind: 'rebase',
    build({ git, commit }) {
      git('checkout', '-q', '-b', 'feature')
      commit({ [CONTRACT]: BROKEN })
      git('checkout', '-q', 'main')
      commit({ 'b.txt': 'b' })
      git('checkout', '-q', 'feature')
      git('merge', '-q', '--no-ff', '--no-commit', 'main')
      commit({ [CONTRACT]: OLD, 'c.txt': 'c' })
    },
    result: [CONTRACT, BROKEN],
    problem: /merge commits/,
  },
]

async function judged(t: TestContext, { kind, build }: Pick<Attempt, 'kind' | 'build'>) {
  const folder = mkdtempSync(join(tmpdir(), 'merges-'))
  t.after(() => {
    rmSync(folder, { recursive: true })
  })
  const tree = repositoryAt(folder)
  tree.git('init', '-q', '--initial-branch', 'main')
  tree.commit({ [CONTRACT]: OLD, 'README.md': 'pets' })
  build(tree)
  const repository = openLocalRepository(folder)
  const [base, head] = [await repository.commitOf('main'), await repository.commitOf('feature')]
  const derived = await deriveChangeSet(repository, { base, head, kind, trialMerge: null }, derivationTerms())
  if (kind === 'merge') {
    tree.git('checkout', '-q', 'main')
    tree.git('merge', '-q', '--no-ff', '-m', 'merge', 'feature')
  } else {
    tree.git('checkout', '-q', 'feature')
    tree.git('rebase', '-q', 'main')
  }
  return { derived, contentOf: (path: string) => tree.git('show', `HEAD:${path}`) }
}

for (const { what, kind, build, result, problem = /^$/ } of ATTEMPTS)
  test(`${what} is not taken for no change`, async (t) => {
    const { derived, contentOf } = await judged(t, { kind, build })
    const [path, text] = result
    assert.equal(contentOf(path), text.trim())
    assert.ok(derived.artifacts.length + derived.unreadable.length > 0 || derived.problem !== null)
    assert.match(derived.problem?.message ?? '', problem)
  })

/** Ordinary merges, in which the base moved too. */
const ORDINARY: readonly Pick<Attempt, 'what' | 'kind' | 'build'>[] = [
  {
    what: 'a merge beside a changed contract',
    kind: 'merge',
    build({ git, commit }) {
      git('checkout', '-q', '-b', 'feature')
      commit({ 'a.txt': 'a' })
      git('checkout', '-q', 'main')
      commit({ [CONTRACT]: NEW })
    },
  },
  {
    what: 'a merge of a branch that was brought up to date before',
    kind: 'merge',
    build({ git, commit }) {
      git('checkout', '-q', '-b', 'feature')
      commit({ 'a.txt': 'a' })
      git('checkout', '-q', 'main')
      commit({ [CONTRACT]: NEW })
      git('checkout', '-q', 'feature')
      git('merge', '-q', '-m', 'up to date', 'main')
      git('checkout', '-q', 'main')
      commit({ [CONTRACT]: openapi(...PATHS, '/more', '/still') })
    },
  },
  {
    what: 'a merge beside a moved text',
    kind: 'merge',
    build({ git, commit }) {
      commit({ 'draft.txt': 'one\ntwo\nthree\n' })
      git('checkout', '-q', '-b', 'feature')
      commit({ 'draft.txt': 'one\ntwo\nfour\n' })
      git('checkout', '-q', 'main')
      commit({ 'draft.txt': null, 'values.yaml': 'one\ntwo\nthree\n' })
    },
  },
  {
    what: 'a rebase beside another changed file',
    kind: 'rebase',
    build({ git, commit }) {
      git('checkout', '-q', '-b', 'feature')
      commit({ 'a.txt': 'a' })
      git('checkout', '-q', 'main')
      commit({ 'values.yaml': 'a: 1\n' })
    },
  },
]

for (const { what, kind, build } of ORDINARY)
  test(`${what} is no change of a contract`, async (t) => {
    const { derived } = await judged(t, { kind, build })
    assert.deepEqual([derived.artifacts, derived.unreadable, derived.problem], [[], [], null])
  })

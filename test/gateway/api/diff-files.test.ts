/** POST /api/diff of documents in several files of a git repository: relative `$ref`s at the same ref, JSON and YAML mixed, never leaving it. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { startApi, type ApiFake } from '../../fakes/api.ts'
import { at, listAt, numberAt, textAt, textsAt } from '../../json.ts'
import { LARGE_TYPES, largePair } from '../../fakes/large-contracts.ts'

const OPENAPI = `openapi: 3.1.0
info: { title: pets, version: '1' }
paths:
  /pets:
    get:
      responses:
        '200':
          description: all of them
          content:
            application/json:
              schema: { $ref: 'schemas/pet.json' }
`
const PET = { type: 'object', properties: { owner: { $ref: '../../shared/own%20er.yaml#/Owner' } } }
const OWNER = 'Owner: { type: object, required: [name], properties: { name: { $ref: "./name.json" } } }\n'

const named = (reference: string) => OPENAPI.replace('schemas/pet.json', reference)

describe('documents of several files at a ref', () => {
  let api: ApiFake
  const repository = mkdtempSync(join(tmpdir(), 'preflight-files-'))
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@example.org', ...args], {
      cwd: repository,
      stdio: 'pipe',
    })
  const commit = (tag: string, files: Readonly<Record<string, string>>) => {
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(dirname(join(repository, path)), { recursive: true })
      writeFileSync(join(repository, path), text)
    }
    git('add', '--all')
    git('commit', '--quiet', '--message', tag)
    git('tag', tag)
  }
  const compare = (base: string, head: string) => api.post('/api/diff', { base, head })

  before(async () => {
    git('init', '--quiet', '--initial-branch=main')
    commit('v1', {
      'api/openapi.yaml': OPENAPI,
      'api/schemas/pet.json': JSON.stringify(PET),
      'shared/own er.yaml': OWNER,
      'shared/name.json': '{"type":"string"}',
    })
    commit('v2', { 'shared/name.json': '{"type":"integer"}' })
    commit('broken', {
      'api/missing.yaml': named('schemas/none.json'),
      'api/outside.yaml': named('../../outside.json'),
      'api/folder.yaml': named('schemas'),
      'api/loop.yaml': named('loop/a.yaml'),
      'api/loop/a.yaml': 'type: object\nproperties: { b: { $ref: b.yaml } }\n',
      'api/loop/b.yaml': 'type: object\nproperties: { a: { $ref: ./../loop/a.yaml } }\n',
      'api/many.yaml': `${OPENAPI}x-more:\n${Array.from({ length: 1001 }, (_, n) => `  - $ref: many/${n}.json`).join('\n')}\n`,
    })
    symlinkSync('/etc/hostname', join(repository, 'api', 'link.json'))
    commit('link', { 'api/linked.yaml': named('link.json') })
    writeFileSync(join(repository, 'shared', 'name.json'), 'not what was committed')
    api = await startApi({ config: { diff: { repository } } })
  })
  after(async () => {
    await api.close()
    rmSync(repository, { recursive: true, force: true })
  })

  it('follows references into folders beside and above, through JSON and YAML, at the ref of each side', async () => {
    const { status, body } = await compare('v1:api/openapi.yaml', 'v2:api/openapi.yaml')
    assert.equal(status, 200, JSON.stringify(body))
    assert.equal(numberAt(body, 'summary', 'breaking'), 1)
    assert.equal(textAt(body, 'groups', 0, 'rule'), 'response-property-type-changed')
    assert.equal(textAt(body, 'groups', 0, 'location'), '../shared/name.json#/type')
    assert.match(textAt(body, 'groups', 0, 'message'), /owner\/name/)
    const same = await compare('v1:api/openapi.yaml', 'v1:api/openapi.yaml')
    assert.deepEqual(at(same.body, 'findings'), [])
  })

  it('is another comparison when only a further file differs', async () => {
    const first = await compare('v1:api/openapi.yaml', 'v1:api/openapi.yaml')
    const second = await compare('v1:api/openapi.yaml', 'v2:api/openapi.yaml')
    assert.equal(listAt(first.body, 'findings').length, 0)
    assert.equal(listAt(second.body, 'findings').length, 1)
  })

  it('tells a file that does not exist as a dangling reference, and ends where files refer to each other', async () => {
    const { status, body } = await compare('broken:api/openapi.yaml', 'broken:api/missing.yaml')
    assert.equal(status, 200, JSON.stringify(body))
    const rules = listAt(body, 'groups').map((group) => textAt(group, 'rule'))
    assert.ok(rules.includes('reference-unresolved'), rules.join(', '))
    const loop = await compare('broken:api/loop.yaml', 'broken:api/loop.yaml')
    assert.equal(loop.status, 200, JSON.stringify(loop.body))
  })

  it('refuses files outside of the repository, by name or by a link, folders and too many files', async () => {
    for (const [path, words] of [
      ['outside.yaml', /"\.\.\/outside\.json" is not a path inside the repository/],
      ['folder.yaml', /broken:api\/schemas is a tree, not a file/],
      ['many.yaml', /more than 1000 files: bundle it/],
    ] as const) {
      const { status, body } = await compare('broken:api/openapi.yaml', `broken:api/${path}`)
      assert.equal(status, 422, `${path}: ${JSON.stringify(body)}`)
      assert.equal(textAt(body, 'details', 0, 'pointer'), '/head')
      assert.match(textAt(body, 'details', 0, 'message'), words)
    }
    const { status, body } = await compare('link:api/openapi.yaml', 'link:api/linked.yaml')
    assert.equal(status, 422)
    const message = textAt(body, 'details', 0, 'message')
    assert.match(message, /link:api\/link\.json is a link to a file outside the repository/)
  })
})

const TEN_MEGABYTES = 10_000_000

describe('a diff of 10 MB a side', () => {
  let api: ApiFake
  before(async () => {
    // What was compared stays in no test's way: each format has the memory for itself.
    api = await startApi({ config: { analysis: { workers: 1, cache: 0 } } })
  })
  after(() => api.close())

  for (const type of LARGE_TYPES) {
    it(`of ${type} is reported by its one change, and other requests are answered meanwhile`, async () => {
      const pair = largePair(type, TEN_MEGABYTES)
      assert.ok(pair.before.length >= TEN_MEGABYTES && pair.after.length >= TEN_MEGABYTES - 100)
      const compared = await startedComparisons(api)
      let isDone = false
      const answer = api.post('/api/diff', { base: pair.before, head: pair.after, type }).finally(() => {
        isDone = true
      })
      await Promise.race([answer, comparisonStarted(api, compared)])
      const meanwhile = await api.get('/.well-known/preflight.json')
      assert.equal(meanwhile.status, 200)
      assert.equal(isDone, false, 'the small request is answered first')
      const { status, body, text } = await answer
      assert.equal(status, 200, text.slice(0, 500))
      assert.deepEqual(textsAt(listAt(body, 'groups'), 'level'), ['breaking'])
      assert.equal(numberAt(body, 'summary', 'breaking') > 0, true)
    })
  }
})

/** Comparisons that were asked for so far: each begins with a look into the cache. */
async function startedComparisons({ metrics }: ApiFake): Promise<number> {
  const count = /preflight_cache_requests_total\{cache="comparison",result="miss"\} (\d+)/.exec(await metrics.text())
  return Number(count?.[1] ?? 0)
}

async function comparisonStarted(api: ApiFake, known: number): Promise<void> {
  if ((await startedComparisons(api)) > known) return
  await new Promise((resolve) => {
    setImmediate(resolve)
  })
  await comparisonStarted(api, known)
}

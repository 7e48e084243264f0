/** Bytes that are not UTF-8 are refused wherever a document or setting is read: a lenient reader makes one text of two different ones. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { suite, test, type TestContext } from 'node:test'
import { readContractSource } from '../../gateway/documents/contract-source.ts'
import { readConsumersFile } from '../../gateway/consumers/declared.ts'
import { loadConfig } from '../../gateway/config/load.ts'
import { loadPolicy } from '../../gateway/config/policy.ts'
import { readCases } from '../../gateway/cli/policy-cases.ts'
import { readIgnoreFile } from '../../gateway/report/ignore-file.ts'
import { INLINE_TEXTS } from '../fakes/contract-texts.ts'
import { run } from '../fakes/command-io.ts'
import { startHttpUpstream } from '../fakes/http-upstream.ts'

/** As an editor of another encoding writes it: the letter is one byte that begins no character of UTF-8. */
const latin1 = (text: string): Buffer => Buffer.from(text, 'latin1')

const CONTRACT = `openapi: 3.0.3
info: { title: shop, version: '1' }
paths:
  /pets:
    get:
      parameters: [{ name: kind, in: query, schema: { type: string, enum: [caf\u00e9] } }]
      responses: { '200': { description: good } }
`

function folder(t: TestContext, files: Readonly<Record<string, Buffer | string>>): string {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'preflight-utf8-')))
  t.after(() => rmSync(root, { recursive: true, force: true }))
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), content)
  }
  return root
}

function committed(root: string): string {
  const git = (...args: readonly string[]) =>
    execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b', ...args], { cwd: root })
  git('init', '-q', '-b', 'main')
  git('add', '.')
  git('commit', '-q', '-m', 'contract')
  return root
}

const TERMS = { repository: undefined, texts: INLINE_TEXTS }
const PARTS = {
  'api.yaml': "paths: { /pets: { $ref: 'part.yaml' } }\nopenapi: 3.0.3\n",
  'part.yaml': latin1('get: { summary: caf\u00e9 }\n'),
}
const PROTO = latin1('syntax = "proto3"; // caf\u00e9\nmessage A {}\n')

suite('a contract', () => {
  const READINGS: readonly (readonly [where: string, read: (t: TestContext) => Promise<string>])[] = [
    [
      'in a file',
      (t) => readContractSource({ file: join(folder(t, { 'a.yaml': latin1(CONTRACT) }), 'a.yaml') }, TERMS),
    ],
    ['in a file that it refers to', (t) => readContractSource({ file: join(folder(t, PARTS), 'api.yaml') }, TERMS)],
    ['in a folder', (t) => readContractSource({ file: folder(t, { 'a.proto': PROTO }) }, TERMS)],
    [
      'at a ref',
      (t) => {
        const repository = committed(folder(t, { 'a.yaml': latin1(CONTRACT) }))
        return readContractSource({ git: 'main:a.yaml' }, { ...TERMS, repository })
      },
    ],
    [
      'in a file that it refers to, at a ref',
      (t) => {
        const repository = committed(folder(t, PARTS))
        return readContractSource({ git: 'main:api.yaml' }, { ...TERMS, repository })
      },
    ],
    [
      'in a folder, at a ref',
      (t) => {
        const repository = committed(folder(t, { 'protos/a.proto': PROTO }))
        return readContractSource({ git: 'main:protos' }, { ...TERMS, repository })
      },
    ],
    [
      'at an address',
      async (t) => {
        const site = await startHttpUpstream((_request, response) => response.end(latin1(CONTRACT)))
        t.after(() => site.close())
        return readContractSource({ url: `${site.origin}/api.yaml` }, TERMS)
      },
    ],
  ]
  for (const [where, read] of READINGS)
    test(`${where} cannot be read`, async (t) => {
      await assert.rejects(read(t), (error) => error instanceof Error && /UTF-8/.test(String(error.cause)))
    })

  test('on the command line is a mistake that says what to do, from a file, a folder and standard input', async (t) => {
    const root = folder(t, { 'a.yaml': CONTRACT, 'b.yaml': latin1(CONTRACT), 'c/c.proto': PROTO })
    for (const [base, stdin] of [
      [join(root, 'b.yaml'), ''],
      [join(root, 'c'), ''],
      ['-', latin1(CONTRACT)],
    ] as const) {
      const ran = await run(['diff', base, join(root, 'a.yaml')], { stdin })
      assert.equal(ran.code, 2, base)
      assert.match(ran.stderr, /UTF-8/, base)
    }
  })
})

suite('settings', () => {
  const PACK =
    "apiVersion: preflight.dev/v1\nkind: Policy\nmetadata: { name: caf\u00e9 }\nrules: [{ id: a, when: 'true', then: BLOCK, environments: [caf\u00e9] }]\n"
  const READERS: readonly (readonly [
    what: string,
    text: string,
    read: (file: string) => { readonly ok: boolean; readonly problem?: unknown },
  ])[] = [
    [
      'a configuration',
      'egress: { deny: ["*.example"] } # caf\u00e9\n',
      (file) => loadConfig({ file, environment: {} }),
    ],
    ['a policy', PACK, (file) => loadPolicy(file, '.')],
    ['a consumers file', 'consumers: [{ name: caf\u00e9, uses: [] }]\n', readConsumersFile],
    ['an ignore list', 'ignore: [{ rule: endpoint-added, reason: caf\u00e9 }]\n', readIgnoreFile],
    ['policy cases', 'cases: [{ description: caf\u00e9 }]\n', readCases],
  ]
  for (const [what, text, read] of READERS)
    test(`${what} in another encoding is a mistake`, (t) => {
      const file = join(folder(t, { 'a.yaml': latin1(text) }), 'a.yaml')
      const answer = read(file)
      assert.equal(answer.ok, false)
      assert.match(JSON.stringify(answer.problem), /UTF-8/)
    })
})

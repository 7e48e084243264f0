/** The files for GitLab, Bitbucket and pre-commit: what they run, run in a clean clone of a repository with two branches. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { parse } from 'yaml'
import packageManifest from '../../../package.json' with { type: 'json' }
import { startApi } from '../../fakes/api.ts'
import { PETS_WITH_POST, PETS_WITHOUT_DELETE } from '../../fakes/contracts.ts'
import { checkout, COMMAND, PLATFORMS, startForum, type Checkout } from '../../fakes/pipeline.ts'
import { runProgram } from '../../fakes/programs.ts'
import { at, listAt, textAt } from '../../json.ts'

const ROOT = join(import.meta.dirname, '..', '..', '..')

/** What a pipeline runs, as its platform executes it: the lines of one shell, which ends with the first that fails. */
interface Pipeline {
  readonly platform: 'gitlab' | 'bitbucket'
  /** Files below the checkout. */
  readonly junit: string
  readonly sarif: string
  readonly receipt: string
  readonly script: (options: string) => readonly string[]
  readonly variables: Readonly<Record<string, string>>
  readonly artifacts: () => readonly unknown[]
}

function readIntegration(name: string, inputs: Readonly<Record<string, string>> = {}): unknown {
  const documents = readFileSync(join(ROOT, 'integrations', name), 'utf8').split(/^---$/m)
  const spec: unknown = documents.length > 1 ? parse(documents[0] ?? '') : {}
  const text = (documents.at(-1) ?? '').replaceAll(/\$\[\[ inputs\.(\w+) \]\]/g, (_, input: string) =>
    inputs[input] === undefined ? textAt(spec, 'spec', 'inputs', input, 'default') : inputs[input],
  )
  return parse(text)
}

const gitlabJob = (options: string): unknown =>
  at(readIntegration('gitlab-component.yml', options === '' ? {} : { options }), 'preflight contracts')
const bitbucketStep = (): unknown =>
  at(readIntegration('bitbucket-pipe.yml'), 'pipelines', 'pull-requests', '**', 0, 'step')

const PIPELINES: readonly Pipeline[] = [
  {
    platform: 'gitlab',
    junit: 'contracts.xml',
    sarif: 'contracts.sarif',
    receipt: 'receipt.jwt',
    variables: {},
    script: (options) => {
      const job = gitlabJob(options === '' ? '' : `--comment ${options}`)
      return [...listAt(job, 'before_script'), ...listAt(job, 'script')].map(String)
    },
    artifacts: () => listAt(gitlabJob(''), 'artifacts', 'paths'),
  },
  {
    platform: 'bitbucket',
    junit: 'test-results/contracts.xml',
    sarif: 'test-results/contracts.sarif',
    receipt: 'test-results/receipt.jwt',
    variables: { BITBUCKET_PR_DESTINATION_BRANCH: 'main' },
    script: () => listAt(bitbucketStep(), 'script').map(String),
    artifacts: () => listAt(bitbucketStep(), 'artifacts'),
  },
]

/** A clone in a clean folder, where `npx` runs the version that the files name. */
function cloneOf(t: TestContext, place: Checkout): { readonly place: Checkout; readonly env: Record<string, string> } {
  const folder = mkdtempSync(join(tmpdir(), 'preflight-clone-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const clone = join(folder, 'build')
  execFileSync('git', ['-C', place.folder, 'checkout', '-q', 'main'])
  execFileSync('git', ['clone', '-q', place.folder, clone])
  execFileSync('git', ['-C', clone, 'checkout', '-q', '--detach', place.head])
  const npx = `#!/bin/sh\n[ "$1 $2" = "--yes preflight-gateway@${packageManifest.version}" ] || exit 9\nshift 2\nexec ${COMMAND} "$@"\n`
  mkdirSync(join(folder, 'bin'))
  writeFileSync(join(folder, 'bin', 'npx'), npx, { mode: 0o755 })
  const PATH = `${join(folder, 'bin')}:${process.env['PATH'] ?? ''}`
  return { place: { ...place, folder: clone }, env: { PATH, HOME: folder } }
}

function runScript(lines: readonly string[], folder: string, env: Readonly<Record<string, string>>) {
  return runProgram('bash', ['-eo', 'pipefail', '-c', ['cd "$FOLDER"', ...lines].join('\n')], {
    FOLDER: folder,
    ...env,
  })
}

for (const { platform, junit, sarif, receipt, script, variables, artifacts } of PIPELINES) {
  test(`${platform}: its file comments once, writes its reports, and ends as the policy says`, async (t) => {
    const { place, env } = cloneOf(t, checkout(t, { 'api/pets.yaml': PETS_WITHOUT_DELETE }))
    const forum = await startForum(t)
    const all = { ...env, ...variables, ...PLATFORMS[platform]?.(forum.origin, place) }
    for (let run = 0; run < 2; run += 1) {
      const { code, stdout, stderr } = await runScript(script(''), place.folder, all)
      assert.equal(code, 1, stderr)
      assert.match(stdout, /^api\/pets\.yaml\n1 breaking/)
    }
    assert.equal(forum.comments.length, 1)
    assert.match(JSON.stringify(forum.comments[0]), /Contract changes: BLOCK/)
    assert.match(readFileSync(join(place.folder, junit), 'utf8'), /failures="1"/)
    assert.ok(listAt(JSON.parse(readFileSync(join(place.folder, sarif), 'utf8')), 'runs', 0, 'results').length > 0)

    const good = cloneOf(t, checkout(t, { 'api/pets.yaml': PETS_WITH_POST }))
    const passed = { ...good.env, ...variables, ...PLATFORMS[platform]?.(forum.origin, good.place) }
    assert.equal((await runScript(script(''), good.place.folder, passed)).code, 0)
    assert.equal(forum.comments.length, 1)
    assert.match(JSON.stringify(forum.comments[0]), /Contract changes: ALLOW/)
  })

  test(`${platform}: its file gets a receipt for the merge, keeps it, and sets the status of the commit`, async (t) => {
    const api = await startApi()
    t.after(() => api.close())
    const options = `--status --authorize --receipt ${receipt}`
    for (const [changed, code, state, action] of [
      [PETS_WITH_POST, 0, /"state":"(?:success|SUCCESSFUL)"/, 'CONTINUE'],
      [PETS_WITHOUT_DELETE, 1, /"state":"(?:failed|FAILED)"/, 'STOP'],
    ] as const) {
      const { place, env } = cloneOf(t, checkout(t, { 'api/pets.yaml': changed }))
      const forum = await startForum(t)
      const done = await runScript(script(options), place.folder, {
        ...env,
        ...variables,
        ...PLATFORMS[platform]?.(forum.origin, place),
        PREFLIGHT_OPTIONS: options,
        PREFLIGHT_URL: api.url,
        PREFLIGHT_API_KEY: api.key,
      })
      assert.equal(done.code, code, done.stderr)
      assert.match(done.stdout, new RegExp(`^merge: ${action}$`, 'm'))
      assert.match(JSON.stringify(forum.comments[0]), /Merge, decided by the gateway/)
      assert.equal(forum.statuses.length, 1)
      assert.ok(forum.statuses[0]?.url.includes(place.head))
      assert.match(JSON.stringify(forum.statuses[0]?.body), state)
      if (code !== 0) continue
      const token = readFileSync(join(place.folder, receipt), 'utf8').trim()
      const context = { operation: 'merge', repository: 'acme/pets', pull_request: '7' }
      const { body } = await api.post('/api/v1/verify-receipt', { token, context })
      assert.equal(at(body, 'currently_authorized'), true, JSON.stringify(body))
      assert.ok(artifacts().some((path) => [receipt, 'test-results/**'].includes(String(path))))
    }
  })
}

test('the hook of pre-commit compares the branch with the default branch of its clone', async (t) => {
  const hook: unknown = parse(readFileSync(join(ROOT, '.pre-commit-hooks.yaml'), 'utf8'))
  assert.deepEqual(at(hook, 0, 'stages'), ['pre-push'])
  assert.equal(at(hook, 0, 'pass_filenames'), false)
  for (const [changed, code] of [
    [PETS_WITH_POST, 0],
    [PETS_WITHOUT_DELETE, 1],
  ] as const) {
    const { place, env } = cloneOf(t, checkout(t, { 'api/pets.yaml': changed }))
    const done = await runScript([textAt(hook, 0, 'entry')], place.folder, env)
    assert.equal(done.code, code, done.stderr)
    assert.match(done.stdout, /^api\/pets\.yaml\n/)
  }
})

test('the files for GitLab, Bitbucket and pre-commit call the command with options that it has', async () => {
  const names = [
    'integrations/gitlab-component.yml',
    'integrations/bitbucket-pipe.yml',
    '.pre-commit-hooks.yaml',
    'action.yml',
  ]
  const { ciCommand } = await import('../../../gateway/cli/ci.ts')
  const known = new Set(ciCommand.options.map(({ name }) => name))
  for (const name of names) {
    const text = readFileSync(join(ROOT, name), 'utf8')
    const lines = text.split('\n').filter((line) => /\bci --|args\+?=\(/.test(line))
    const used = lines.flatMap((line) =>
      [...line.matchAll(/ --([a-z-]+)|\(--([a-z-]+)/g)].map(([, a, b]) => a ?? b ?? ''),
    )
    assert.deepEqual(
      used.filter((option) => !known.has(option) && option !== 'yes'),
      [],
      name,
    )
    assert.ok(lines.length > 0, name)
    for (const document of text.split(/^---$/m)) parse(document.replaceAll('$[[', '$((').replaceAll(']]', '))'))
  }
})

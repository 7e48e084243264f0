/** A pipeline of a pull request: a real repository with two branches, the variables of the platform, and a platform that answers. */
import { execFileSync } from 'node:child_process'
import { createServer } from 'node:http'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { TestContext } from 'node:test'
import { PETS } from './contracts.ts'
import { PREFLIGHT } from './desk.ts'
import { listening } from './listening.ts'
import { runProgram } from './programs.ts'

export interface Checkout {
  readonly folder: string
  readonly base: string
  readonly head: string
}

/** A real repository with two branches; `main` goes on after they parted. */
export function checkout(t: TestContext, changed: Readonly<Record<string, string | null>>): Checkout {
  const folder = mkdtempSync(join(tmpdir(), 'preflight-ci-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const git = (...args: readonly string[]): string =>
    execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@example.org', ...args], {
      cwd: folder,
      encoding: 'utf8',
    })
  const put = (files: Readonly<Record<string, string | null>>, message: string): string => {
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(dirname(join(folder, path)), { recursive: true })
      if (text === null) rmSync(join(folder, path))
      else writeFileSync(join(folder, path), text)
    }
    git('add', '-A')
    git('commit', '-qm', message)
    return git('rev-parse', 'HEAD').trim()
  }
  git('init', '-q', '-b', 'main')
  put({ 'api/pets.yaml': PETS, 'README.md': 'pets', 'src/main.ts': 'one' }, 'first')
  git('checkout', '-qb', 'feature')
  const head = put(changed, 'change')
  git('checkout', '-q', 'main')
  const base = put({ 'src/main.ts': 'two' }, 'main goes on')
  git('checkout', '-q', 'feature')
  return { folder, base, head }
}

export const COMMAND = `${process.execPath} --disable-warning=ExperimentalWarning ${PREFLIGHT}`

export async function ci({ folder }: Checkout, argv: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const script = `cd "$FOLDER" && ${COMMAND} ci "$@"`
  return runProgram('bash', ['-c', script, 'bash', ...argv], { FOLDER: folder, HOME: folder, ...env })
}

/** A platform that keeps comments and statuses, in the forms of all three. */
export async function startForum(t: TestContext) {
  const comments: Record<string, unknown>[] = []
  const statuses: { readonly url: string; readonly body: unknown }[] = []
  const server = createServer((request, response) => {
    let text = ''
    request.on('data', (chunk: Buffer) => (text += chunk.toString('utf8')))
    request.on('end', () => {
      const { method = '', url = '' } = request
      const body: Record<string, unknown> = text === '' ? {} : JSON.parse(text)
      if (url.includes('/statuses/')) {
        statuses.push({ url, body })
      } else if (method === 'POST') comments.push({ id: comments.length + 1, ...body })
      else if (method !== 'GET') Object.assign(comments[Number(url.split('/').at(-1)) - 1] ?? {}, body)
      const listed = url.includes('/repositories/') ? { values: comments } : comments
      response.end(JSON.stringify(method === 'GET' ? listed : {}))
    })
  })
  return { origin: await listening(t, server), comments, statuses }
}

export const PLATFORMS: Readonly<
  Record<string, (origin: string, place: Checkout) => Readonly<Record<string, string>>>
> = {
  github: (origin, { folder, base, head }) => {
    const event = { pull_request: { number: 7, head: { sha: head, ref: 'feature' }, base: { sha: base, ref: 'main' } } }
    writeFileSync(join(folder, '.git', 'event.json'), JSON.stringify(event))
    return {
      GITHUB_ACTIONS: 'true',
      GITHUB_REPOSITORY: 'acme/pets',
      GITHUB_TOKEN: 'token',
      GITHUB_API_URL: origin,
      GITHUB_EVENT_PATH: join(folder, '.git', 'event.json'),
    }
  },
  gitlab: (origin, { base, head }) => ({
    GITLAB_CI: 'true',
    CI_API_V4_URL: origin,
    CI_PROJECT_ID: '5',
    CI_PROJECT_PATH: 'acme/pets',
    GITLAB_TOKEN: 'token',
    CI_MERGE_REQUEST_IID: '7',
    CI_MERGE_REQUEST_DIFF_BASE_SHA: base,
    CI_COMMIT_SHA: head,
  }),
  bitbucket: (origin, { base, head }) => ({
    BITBUCKET_BUILD_NUMBER: '1',
    BITBUCKET_API_URL: origin,
    BITBUCKET_REPO_FULL_NAME: 'acme/pets',
    BITBUCKET_TOKEN: 'token',
    BITBUCKET_PR_ID: '7',
    BITBUCKET_PR_DESTINATION_COMMIT: base,
    BITBUCKET_COMMIT: head,
  }),
}

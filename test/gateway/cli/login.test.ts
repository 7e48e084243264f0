/** Sign-in at a command line with a real OpenID provider: the device grant, the key that it makes, and its end. */
import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough, Readable } from 'node:stream'
import { test, type TestContext } from 'node:test'
import { main } from '../../../gateway/cli/main.ts'
import type { Browser } from 'playwright-core'
import { openBrowser } from '../../fakes/browser.ts'
import { run, type Ran } from '../../fakes/command-io.ts'
import { startConsoleScene, type ConsoleScene } from '../../fakes/console-scene.ts'
import { startOidcServer } from '../../fakes/oidc-server.ts'
import { at } from '../../json.ts'

const PEOPLE = { ana: ['preflight-approvers', 'payments'], eve: ['marketing'] }

interface Desk {
  readonly scene: ConsoleScene
  readonly home: string
  readonly cli: (...argv: readonly string[]) => Promise<Ran>
  /** Signs in as this person in a browser; resolves with the end of the command. */
  readonly login: (name: string) => Promise<{ readonly code: number; readonly text: string }>
}

async function startDesk(t: TestContext, browser: Browser, session = 3600): Promise<Desk> {
  const server = await startOidcServer(t, PEOPLE)
  const provider = {
    name: 'corp',
    issuer: server.issuer,
    client_id: 'console',
    client_secret: 'a-secret-of-the-console',
    roles: [{ group: 'preflight-approvers', role: 'approver' }],
    session,
  }
  const publicUrl = 'https://preflight.example.org'
  const scene = await startConsoleScene(t, { public_url: publicUrl, console: { providers: [provider] } })
  server.allow(`${scene.url}/console/sign-in/corp/callback`)
  const folder = mkdtempSync(join(tmpdir(), 'preflight-login-'))
  t.after(() => rmSync(folder, { recursive: true, force: true, maxRetries: 9 }))
  const home = join(folder, 'home')
  const environment = { PREFLIGHT_HOME: home, PREFLIGHT_URL: scene.url }
  return {
    scene,
    home,
    cli: (...argv) => run(argv, { environment }),
    async login(name) {
      const output = new PassThrough()
      let text = ''
      const address = new Promise<string>((resolve) => {
        output.on('data', (chunk: Buffer) => {
          text += chunk.toString()
          const found = /Open (\S+)/.exec(text)?.[1]
          if (found !== undefined) resolve(found)
        })
      })
      const io = { stdin: Readable.from([]), stdout: output, stderr: output, environment, isTerminal: false }
      const ended = main(['login'], io)
      await confirm(browser, await address, name)
      return { code: await ended, text }
    },
  }
}

/** As a person does it: the code is shown, they agree, sign in, and agree to the client. */
async function confirm(browser: Browser, address: string, name: string): Promise<void> {
  const context = await browser.newContext()
  const page = await context.newPage()
  await page.goto(address)
  await page.getByRole('button', { name: 'Continue' }).click()
  await page.locator('input[name=login]').fill(name)
  await page.locator('input[name=password]').fill('any')
  await page.getByRole('button').first().click()
  await page.getByRole('button', { name: 'Continue' }).click()
  await page.getByText(/Sign-in Success/i).waitFor()
  await context.close()
}

test('a person signs in at a command line, works with role and groups of the provider, and signs out', async (t) => {
  const browser = await openBrowser(t)
  if (browser === null) return
  const { scene, home, cli, login } = await startDesk(t, browser)
  const none = await cli('whoami')
  assert.deepEqual([none.code, /sign in with preflight login/.test(none.stderr)], [2, true])
  const { code, text } = await login('ana')
  assert.equal(code, 0, text)
  assert.match(text, /and confirm the code \S+-\S+/)
  assert.match(text, /signed in as ana: approver, preflight-approvers, payments, until 20/)
  const file = join(home, 'sign-in.json')
  assert.deepEqual([statSync(file).mode & 0o777, statSync(home).mode & 0o777], [0o600, 0o700])
  const who = await cli('whoami', '--format', 'json')
  assert.equal(at(JSON.parse(who.stdout), 'owner'), 'oidc:corp:ana', who.stderr)
  const place = { operation: 'merge', repository: 'acme/orders', environment: 'production' }
  const id = scene.requestIn(await scene.ask(place))
  const granted = await cli('approvals', 'grant', id, '--comment', 'agreed')
  assert.equal(granted.code, 0, granted.stderr)
  const contract = join(home, 'contract.json')
  writeFileSync(contract, '{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object"}')
  const risk = await cli('preflight', '--mode', 'analyze', contract, contract)
  assert.deepEqual([risk.code, /outcome +NO_BREAK_DETECTED/.test(risk.stdout)], [0, true], risk.stderr)
  const out = await cli('logout')
  assert.equal(out.code, 0, out.stderr)
  assert.equal((await cli('whoami')).code, 2)
  assert.equal((await cli('logout')).code, 1)
  const keys = await run(['keys', 'list', '--format', 'json', '--data-dir', scene.gateway.dataDir])
  const rows: unknown = JSON.parse(keys.stdout)
  const own = Array.isArray(rows) ? rows.find((row) => at(row, 'owner') === 'oidc:corp:ana') : undefined
  assert.notEqual(at(own, 'revoked_at'), null)
})

test('a person asks with an own key and decides with a sign-in: that is one person', async (t) => {
  const browser = await openBrowser(t)
  if (browser === null) return
  const { scene, cli, login } = await startDesk(t, browser)
  const made = await scene.api('POST', '/api/v1/keys', { name: 'Ana', role: 'approver', owner: 'oidc:corp:ana' })
  const place = { operation: 'merge', repository: 'acme/orders', environment: 'production' }
  const id = scene.requestIn(await scene.ask(place, undefined, String(at(made.body, 'api_key'))))
  assert.equal((await login('ana')).code, 0)
  const granted = await cli('approvals', 'grant', id)
  assert.deepEqual([granted.code, /of the same person/.test(granted.stderr)], [1, true], granted.stderr)
})

test('a person without a role gets no key', async (t) => {
  const browser = await openBrowser(t)
  if (browser === null) return
  const { home, login } = await startDesk(t, browser)
  const { code, text } = await login('eve')
  assert.equal(code, 1)
  assert.match(text, /None of your groups has a role here/)
  assert.equal(existsSync(join(home, 'sign-in.json')), false)
})

test('without a provider, or with another name, the command says what to do', async (t) => {
  const scene = await startConsoleScene(t)
  const login = await run(['login', '--url', scene.url])
  assert.deepEqual(
    [login.code, /no provider to sign in with \(console\.providers\); use an API key/.test(login.stderr)],
    [2, true],
  )
  const missing = await scene.api('POST', '/api/v1/sign-in', { provider: 'corp' })
  assert.equal(missing.status, 404)
  assert.equal((await run(['login'])).code, 2)
  const admin = await run(['whoami', '--url', scene.url], { environment: { PREFLIGHT_API_KEY: scene.admin } })
  assert.match(admin.stdout, /role +admin\n[^]*rights +ask, read, approve, revoke, operate, administer/)
  const kept = await scene.api('POST', '/api/v1/sign-out')
  assert.equal(at(kept.body, 'revoked'), false)
})

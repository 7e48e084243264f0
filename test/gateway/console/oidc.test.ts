/** Sign-in with a real OpenID provider in a browser: roles and groups by claim, and what must not get in. */
import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import { openBrowser } from '../../fakes/browser.ts'
import { FREE_PORTS, startTestGateway } from '../../fakes/gateway.ts'
import { freePort } from '../../fakes/listening.ts'
import { startConsoleScene, type ConsoleScene } from '../../fakes/console-scene.ts'
import { startOidcServer } from '../../fakes/oidc-server.ts'
import { at } from '../../json.ts'

const PEOPLE = { ana: ['preflight-approvers', 'payments'], vi: ['preflight-viewers'], eve: ['marketing'] }

async function startWithProvider(t: TestContext): Promise<ConsoleScene> {
  const server = await startOidcServer(t, PEOPLE)
  const provider = {
    name: 'corp',
    title: 'Corp',
    issuer: server.issuer,
    client_id: 'console',
    client_secret: 'a-secret-of-the-console',
    roles: [
      { group: 'preflight-viewers', role: 'viewer' },
      { group: 'preflight-approvers', role: 'approver' },
    ],
  }
  const partner = { ...provider, name: 'partner', title: 'Partner', tenant: 'acme' }
  const api = `127.0.0.1:${await freePort()}`
  server.allow(`http://${api}/console/sign-in/corp/callback`, `http://${api}/console/sign-in/partner/callback`)
  return startConsoleScene(t, {
    listen: { ...FREE_PORTS, api },
    public_url: `http://${api}`,
    console: { providers: [provider, partner] },
  })
}

async function signIn(browser: Browser, url: string, name: string, provider = 'Corp'): Promise<Page> {
  const context = await browser.newContext()
  const page = await context.newPage()
  await page.goto(`${url}/console/approvals`)
  await page.getByRole('link', { name: `Sign in with ${provider}` }).click()
  await page.locator('input[name=login]').fill(name)
  await page.locator('input[name=password]').fill('any')
  await page.getByRole('button').first().click()
  await page.getByRole('button', { name: 'Continue' }).click()
  await page.waitForURL((address) => address.origin === new URL(url).origin)
  return page
}

test('a person of the provider comes back to the page, with the role and the groups of the claim', async (t) => {
  const browser = await openBrowser(t)
  if (browser === null) return
  const scene = await startWithProvider(t)
  const id = scene.requestIn(
    await scene.ask({ operation: 'merge', repository: 'acme/orders', environment: 'production' }),
  )
  const page = await signIn(browser, scene.url, 'ana')
  await page.waitForURL(`${scene.url}/console/approvals`)
  await page.getByRole('link', { name: /Merge acme\/orders/ }).click()
  await page.getByRole('button', { name: 'Grant' }).click()
  await page.waitForURL(/done=1/)
  const { body } = await scene.api('GET', `/api/v1/approvals/${id}`)
  assert.equal(at(body, 'approval', 'state'), 'granted')
  assert.equal(at(body, 'approval', 'approver'), 'oidc:corp:ana')
})

test('a person asks with an own key and grants with the provider: that is one person', async (t) => {
  const browser = await openBrowser(t)
  if (browser === null) return
  const scene = await startWithProvider(t)
  const made = await scene.api('POST', '/api/v1/keys', { name: 'Ana', role: 'approver', owner: 'oidc:corp:ana' })
  const key = String(at(made.body, 'api_key'))
  const id = scene.requestIn(
    await scene.ask({ operation: 'merge', repository: 'acme/orders', environment: 'production' }, undefined, key),
  )
  const page = await signIn(browser, scene.url, 'ana')
  await page.goto(`${scene.url}/console/approvals/${id}`)
  await page.getByRole('button', { name: 'Deny' }).click()
  assert.match((await page.getByRole('alert').textContent()) ?? '', /of the same person/)
})

test('each of several providers signs its people in to its tenant', async (t) => {
  const browser = await openBrowser(t)
  if (browser === null) return
  const scene = await startWithProvider(t)
  const id = scene.requestIn(
    await scene.ask({ operation: 'merge', repository: 'acme/orders', environment: 'production' }),
  )
  const page = await signIn(browser, scene.url, 'ana', 'Partner')
  assert.match((await page.locator('.who').textContent()) ?? '', /approver · acme/)
  assert.equal((await page.goto(`${scene.url}/console/approvals/${id}`))?.status(), 404)
})

test('providers need the address that people come back to', async (t) => {
  const roles = [{ group: 'preflight-viewers', role: 'viewer' }]
  const provider = { name: 'corp', issuer: 'https://login.example.org', client_id: 'console', roles }
  const start = (config: object) => startTestGateway(t, { console: { providers: [provider] }, ...config })
  await assert.rejects(start({}), /console\.providers.*sends people back.*set public_url to the origin/s)
  await assert.rejects(start({ public_url: 'https://example.org/preflight' }), /public_url/)
  const twice = { console: { providers: [provider, provider] }, public_url: 'https://example.org' }
  await assert.rejects(start(twice), /used by providers\[0\] too/)
  const plain = {
    console: { providers: [{ ...provider, issuer: 'http://login.example.org' }] },
    public_url: 'https://a.b',
  }
  await assert.rejects(start(plain), /must be an https address/)
})

test('a viewer reads and decides nothing, and a person without a role stays outside', async (t) => {
  const browser = await openBrowser(t)
  if (browser === null) return
  const scene = await startWithProvider(t)
  const id = scene.requestIn(
    await scene.ask({ operation: 'merge', repository: 'acme/orders', environment: 'production' }),
  )
  const viewer = await signIn(browser, scene.url, 'vi')
  await viewer.goto(`${scene.url}/console/approvals/${id}`)
  assert.equal(await viewer.getByRole('button', { name: 'Grant' }).count(), 0)
  const stranger = await signIn(browser, scene.url, 'eve')
  assert.match((await stranger.locator('body').textContent()) ?? '', /None of your groups has a role here/)
  await stranger.goto(`${scene.url}/console`)
  assert.match(stranger.url(), /sign-in/)
})

test('an answer of a provider is taken only in the browser that began, once and unchanged', async (t) => {
  const scene = await startWithProvider(t)
  const forged = await fetch(`${scene.url}/console/sign-in/corp/callback?code=x&state=y`, { redirect: 'manual' })
  assert.equal(forged.status, 403)
  assert.match(await forged.text(), /not begun in this browser/)
  const begun = await fetch(`${scene.url}/console/sign-in/corp?next=https://evil.example`, { redirect: 'manual' })
  const away = new URL(begun.headers.get('location') ?? '')
  assert.equal(away.searchParams.get('code_challenge_method'), 'S256')
  assert.ok((away.searchParams.get('nonce') ?? '') !== '')
  const cookie = begun.headers.getSetCookie()[0]?.split(';', 1)[0] ?? ''
  assert.match(cookie, /^__Host-preflight-sign-in=/)
  const changed = await fetch(`${scene.url}/console/sign-in/corp/callback?code=x&state=other`, {
    headers: { cookie },
    redirect: 'manual',
  })
  assert.equal(changed.status, 403)
  assert.equal(changed.headers.getSetCookie().length, 0)
  // A cookie of the sign-in is no session.
  const session = await fetch(`${scene.url}/console`, {
    headers: { cookie: cookie.replace('-sign-in', '') },
    redirect: 'manual',
  })
  assert.equal(session.status, 303)
  assert.equal((await fetch(`${scene.url}/console/sign-in/other`, { redirect: 'manual' })).status, 404)
})

/** The pages of the console with the longest names that the gateway takes: no text leaves its card, its table or the page. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { openBrowser, signedIn } from '../../fakes/browser.ts'
import { consoleAddresses } from '../../fakes/console-pages.ts'
import { startConsoleScene, type ConsoleScene } from '../../fakes/console-scene.ts'
import { startHttpUpstream } from '../../fakes/http-upstream.ts'

/** One word without a place to break it. */
const long = (start: string, length = 200): string => start + 'x'.repeat(length - start.length)

const ROUTE = long('route', 63)
const PATH = `/${long('orders')}`

function contract(required: boolean): string {
  const region = { name: long('region'), in: 'query', required, schema: { type: 'string' } }
  const list = { operationId: long('list'), parameters: [region], responses: { 200: { description: long('all') } } }
  return JSON.stringify({
    openapi: '3.0.3',
    info: { title: long('Title'), version: '1.0.0' },
    paths: { [PATH]: { get: list } },
  })
}

async function startLongScene(t: TestContext): Promise<ConsoleScene> {
  const folder = mkdtempSync(join(tmpdir(), 'preflight-long-names-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const [baseline, current] = [join(folder, 'baseline.json'), join(folder, 'current.json')]
  writeFileSync(baseline, contract(false))
  writeFileSync(current, contract(true))
  const upstream = await startHttpUpstream((_request, response) => response.end('[]'))
  t.after(() => upstream.close())
  const scene = await startConsoleScene(t, {
    consumers: [{ name: long('consumer'), uses: [{ operation: `GET ${PATH}` }] }],
    routes: [
      {
        name: ROUTE,
        match: { path: '/' },
        upstream: upstream.origin,
        protocol: 'http',
        contract: { baseline: { file: baseline }, current: { file: current }, refresh: 0 },
      },
    ],
  })
  const place = {
    repository: `acme/${long('shop', 195)}`,
    environment: long('production', 100),
    branch: long('feature'),
    target_id: long('target'),
  }
  const artifacts = [{ id: long('artifact'), type: 'openapi', before: contract(false), after: contract(true) }]
  const key = await scene.newKey(long('bot'), 'agent')
  for (const operation of ['merge', 'publish', long('operation', 100)]) {
    const request = { preflight_mode: 'authorize', artifacts, context: { operation, ...place } }
    assert.equal((await scene.api('POST', '/api/v1/preflight', request, key)).status, 200)
  }
  await fetch(scene.gateway.addresses.proxy + PATH)
  return scene
}

/** What is wider than the page, or than its own table. Code has a bar of its own. */
const TOO_WIDE = `[...document.querySelectorAll('main *')]
  .filter((one) => !one.closest('pre'))
  .filter((one) => one.getBoundingClientRect().right > innerWidth + 1 ||
    (one.matches('.scroll, .card') && one.scrollWidth > one.clientWidth + 1))
  .map((one) => one.tagName + '.' + one.className).join(' ')`

/** Buttons whose one word stands on two lines. */
const BROKEN_WORDS = `[...document.querySelectorAll('button, .button')].filter((one) => {
  const range = document.createRange()
  range.selectNodeContents(one)
  const lines = new Set([...range.getClientRects()].map(({ top }) => Math.round(top)))
  return lines.size > 1 && !/\\s/.test(one.textContent.trim())
}).map((one) => one.textContent.trim()).join(' ')`

for (const width of [1440, 390, 360])
  test(`every page fits ${width} px with names of 200 characters, and no button breaks a word`, async (t) => {
    const browser = await openBrowser(t)
    if (browser === null) return
    const scene = await startLongScene(t)
    const look = { viewport: { width, height: 800 }, colorScheme: 'light' } as const
    const { page } = await signedIn(browser, scene.url, scene.admin, look)
    for (const address of await consoleAddresses(scene)) {
      const path = address.replace('/orders', `/${ROUTE}`)
      await page.goto(scene.url + path)
      assert.equal(await page.evaluate(TOO_WIDE), '', path)
      assert.equal(await page.evaluate(BROKEN_WORDS), '', path)
    }
  })

/** The console in a browser: on a phone and a wide screen, dark and light, with the keyboard alone, without scripts, and for everybody (WCAG 2.2 AA). */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import axe from 'axe-core'
import type { Page } from 'playwright-core'
import { openBrowser, signedIn } from '../../fakes/browser.ts'
import { consoleAddresses } from '../../fakes/console-pages.ts'
import { fillScene, ORDERS, ORDERS_BROKEN, startConsoleScene } from '../../fakes/console-scene.ts'
import { at } from '../../json.ts'

async function violations(page: Page): Promise<readonly string[]> {
  await page.evaluate(axe.source)
  const found: unknown = await page.evaluate(
    `axe.run(document, { runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'] })
      .then(({ violations }) => violations.map(({ id, nodes }) => id + ': ' + nodes.map(({ html }) => html.slice(0, 160)).join(' | ')))`,
  )
  return Array.isArray(found) ? found.map(String) : []
}

for (const width of [1440, 360])
  for (const colorScheme of ['light', 'dark'] as const)
    test(`every page fits ${width} px in ${colorScheme}, breaks no rule of accessibility and none of its own policy`, async (t) => {
      const browser = await openBrowser(t)
      if (browser === null) return
      const scene = await startConsoleScene(t)
      await fillScene(scene)
      const look = { viewport: { width, height: 800 }, colorScheme }
      const { page, problems } = await signedIn(browser, scene.url, scene.admin, look)
      const titles = new Map<string, string>()
      for (const path of await consoleAddresses(scene)) {
        const answer = await page.goto(scene.url + path)
        const isNarrow = await page.evaluate('document.documentElement.scrollWidth <= innerWidth')
        assert.equal(isNarrow, true, `${path} is too wide`)
        assert.deepEqual(await violations(page), [], path)
        const title = await page.title()
        assert.ok(title.endsWith('· Preflight') && answer !== null)
        const [address = ''] = path.split('?')
        assert.equal(titles.get(title) ?? address, address, `two pages have the title ${title}`)
        titles.set(title, address)
      }
      assert.deepEqual(
        problems.filter((text) => !text.includes('404')),
        [],
      )
    })

test('a request is read and granted without scripts', async (t) => {
  const browser = await openBrowser(t)
  if (browser === null) return
  const scene = await startConsoleScene(t)
  await fillScene(scene)
  const ana = await scene.newKey('Ana', 'approver', 'payments')
  const { page } = await signedIn(browser, scene.url, ana, { javaScriptEnabled: false })
  await page.getByRole('link', { name: /Merge acme\/orders #42/ }).click()
  assert.match((await page.getByRole('main').textContent()) ?? '', /The required query parameter region was added/)
  await page.getByRole('textbox', { name: /^Comment/ }).fill('agreed with the owner')
  await page.getByLabel('Valid for').selectOption({ label: '1 hour' })
  await page.getByRole('button', { name: 'Grant' }).click()
  assert.match((await page.getByRole('complementary').textContent()) ?? '', /Granted by Ana[^]*agreed with the owner/)
  const again = await scene.ask({
    operation: 'merge',
    repository: 'acme/orders',
    environment: 'production',
    pull_request: 42,
  })
  assert.equal(at(again, 'decision'), 'WARN')
})

test('the keyboard alone leads from the overview to a denial', async (t) => {
  const browser = await openBrowser(t)
  if (browser === null) return
  const scene = await startConsoleScene(t)
  await fillScene(scene)
  const { page } = await signedIn(browser, scene.url, await scene.newKey('Ana', 'approver'))
  await page.keyboard.press('j')
  await page.keyboard.press('Enter')
  await page.waitForURL(/\/console\/approvals\/apr_/)
  await page.keyboard.press('/')
  assert.equal(await page.evaluate('document.activeElement.name'), 'comment')
  await page.keyboard.type('not before the freeze')
  for (let presses = 0; presses < 6; presses += 1) {
    await page.keyboard.press('Tab')
    if ((await page.evaluate('document.activeElement.value')) === 'denied') break
  }
  await page.keyboard.press('Enter')
  await page.waitForURL(/done=1/)
  assert.match((await page.getByRole('complementary').textContent()) ?? '', /Denied by Ana/)
})

test('a small screen shows each row of a table with its columns named, and a difference line below line', async (t) => {
  const browser = await openBrowser(t)
  if (browser === null) return
  const scene = await startConsoleScene(t)
  await fillScene(scene)
  const { page } = await signedIn(browser, scene.url, scene.admin, { viewport: { width: 360, height: 740 } })
  for (const path of ['/console/ledger', '/console/keys', '/console/fleet', '/console/monitoring']) {
    await page.goto(scene.url + path)
    const cut: unknown = await page.evaluate(
      `[...document.querySelectorAll('.scroll')].filter((one) => one.scrollWidth > one.clientWidth).length`,
    )
    assert.equal(cut, 0, `${path}: nothing of a table is out of view`)
    assert.ok((await page.getByRole('row').count()) > 1, 'for those who listen it is a table all the same')
    assert.ok((await page.getByRole('columnheader').count()) > 1)
  }
  await page.goto(`${scene.url}/console/routes/orders`)
  const [gone, added] = [page.locator('.diff td.gone').first(), page.locator('.diff td.new').first()]
  const places = [await gone.boundingBox(), await added.boundingBox()]
  assert.equal(places[0]?.x, places[1]?.x)
  assert.ok((places[0]?.width ?? 0) > 240, 'a line has the width of the screen')
})

test('the keys j and k go through the rows of the ledger', async (t) => {
  const browser = await openBrowser(t)
  if (browser === null) return
  const scene = await startConsoleScene(t)
  await fillScene(scene)
  const { page } = await signedIn(browser, scene.url, scene.admin)
  await page.goto(`${scene.url}/console/ledger`)
  const links = page.locator('tbody a')
  const focused = async (): Promise<number> => {
    const found: unknown = await page.evaluate(
      "[...document.querySelectorAll('tbody a')].indexOf(document.activeElement)",
    )
    return Number(found)
  }
  assert.ok((await links.count()) > 3)
  for (const key of ['j', 'j', 'j', 'k']) await page.keyboard.press(key)
  assert.equal(await focused(), 1)
  await page.keyboard.press('Enter')
  await page.waitForURL(/\/console\/decisions\/dec_/)
})

test('an open page follows what others do', async (t) => {
  const browser = await openBrowser(t)
  if (browser === null) return
  const scene = await startConsoleScene(t)
  const { page } = await signedIn(browser, scene.url, scene.admin)
  assert.equal(await page.getByText('Nothing waits for a decision').count(), 1)
  await page.waitForTimeout(2500)
  await scene.ask({ operation: 'merge', repository: 'acme/late', environment: 'production' })
  await page.getByRole('link', { name: /Merge acme\/late/ }).waitFor()
})

test('a changed contract is reviewed side by side and promoted by its digest', async (t) => {
  const browser = await openBrowser(t)
  if (browser === null) return
  const scene = await startConsoleScene(t)
  await fillScene(scene)
  const { page } = await signedIn(browser, scene.url, await scene.newKey('Ana', 'admin', 'payments'))
  await page.goto(`${scene.url}/console/routes/orders`)
  assert.match((await page.locator('table.diff').textContent()) ?? '', /region/)
  await page.getByLabel('Reason').fill('the shop sends the region since 2.4')
  await page.getByRole('button', { name: /^Promote/ }).click()
  await page.waitForURL(/done=1/)
  assert.equal(await page.getByText('Unchanged').count(), 1)
})

test('a change is tried out under the policy, and past decisions are made again under another pack', async (t) => {
  const browser = await openBrowser(t)
  if (browser === null) return
  const scene = await startConsoleScene(t)
  await fillScene(scene)
  const { page } = await signedIn(browser, scene.url, await scene.newKey('Vi', 'viewer'))
  await page.goto(`${scene.url}/console/policies`)
  await page.getByText('Try a change').click()
  await page.getByLabel('Contract before').fill(ORDERS)
  await page.getByLabel('Contract after').fill(ORDERS_BROKEN)
  await page.getByLabel('Operation', { exact: true }).fill('publish')
  await page.getByRole('button', { name: 'Try it' }).click()
  const result = page.getByRole('region', { name: 'What shop would decide' })
  assert.match((await result.textContent()) ?? '', /Blocked[^]*breaking-publish-blocks[^]*region/)
  await page.getByText('Decide past changes again').click()
  const pack = [
    'apiVersion: preflight.dev/v1',
    'kind: Policy',
    'metadata: { name: all-stop }',
    'rules: [{ id: stop, when: "true", then: BLOCK }]',
  ]
  await page.locator('form[action$=replay] textarea').fill(pack.join('\n'))
  await page.getByRole('button', { name: 'Decide again' }).click()
  const replayed = page.getByRole('region', { name: /decisions under all-stop/ })
  assert.match((await replayed.textContent()) ?? '', /would be decided differently/)
  for (const [field, instant] of [
    ['Since (UTC)', '2126-01-01T00:00'],
    ['Until (UTC)', '2020-01-01T00:00'],
  ] as const) {
    await page.getByLabel(field).fill(instant)
    await page.getByRole('button', { name: 'Decide again' }).click()
    assert.equal(await page.getByRole('region', { name: '0 decisions under all-stop' }).count(), 1, field)
    await page.getByLabel(field).fill('')
  }
  await page.locator('form[action$=replay] textarea').fill('kind: Policy')
  await page.getByRole('button', { name: 'Decide again' }).click()
  assert.match((await page.getByRole('alert').textContent()) ?? '', /policy is not valid/)
})

test('a contract is found by an operation, and read with its fields', async (t) => {
  const browser = await openBrowser(t)
  if (browser === null) return
  const scene = await startConsoleScene(t)
  await fillScene(scene)
  const { page } = await signedIn(browser, scene.url, scene.admin)
  await page.goto(`${scene.url}/console/contracts`)
  await page.getByRole('searchbox').fill('createorder')
  await page.keyboard.press('Enter')
  await page.getByRole('link', { name: 'POST /orders' }).click()
  const part = page.locator('details.part[open]')
  assert.match((await part.textContent()) ?? '', /Request body[^]*total\.currency[^]*"EUR" \| "USD" \| "GBP"/)
})

test('a small screen opens the menu by a button, without scripts', async (t) => {
  const browser = await openBrowser(t)
  if (browser === null) return
  const scene = await startConsoleScene(t)
  const look = { viewport: { width: 360, height: 740 }, javaScriptEnabled: false }
  const { page } = await signedIn(browser, scene.url, scene.admin, look)
  assert.equal(await page.getByRole('link', { name: 'Policies' }).isVisible(), false)
  await page.getByRole('button', { name: 'Menu' }).click()
  await page.getByRole('link', { name: 'Policies' }).click()
  await page.waitForURL(/policies/)
})

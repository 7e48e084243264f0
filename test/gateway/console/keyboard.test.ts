/** Every action of the console with the keyboard alone: each form that a page takes is found, filled and submitted without a pointer. */
import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { PAGES } from '../../../gateway/console/serving/pages.ts'
import { openBrowser, signedIn } from '../../fakes/browser.ts'
import { fillScene, ORDERS, ORDERS_BROKEN, startConsoleScene, type ConsoleScene } from '../../fakes/console-scene.ts'
import { listening } from '../../fakes/listening.ts'
import { listAt, textAt } from '../../json.ts'

/** Steps of the keyboard: to an element of the page, by a selector, then a text that is typed, or `Enter`. */
type Step = readonly [selector: string, text?: string]

interface KeyboardAction {
  /** The form that it submits, as PAGES names it. */
  readonly form: string
  readonly name: string
  readonly from: (scene: ConsoleScene) => string | Promise<string>
  readonly steps: readonly Step[]
  /** In the main part of the page afterwards. */
  readonly then: RegExp
}

const requests = async ({ api }: ConsoleScene) =>
  listAt((await api('GET', '/api/v1/approvals?state=pending')).body, 'approvals')
const request = (index: number) => async (scene: ConsoleScene) =>
  `/console/approvals/${textAt((await requests(scene))[index], 'id')}`

/** In this order: some need what an earlier one did. */
const ACTIONS: readonly KeyboardAction[] = [
  {
    form: 'POST /console/approvals/:id',
    name: 'add a note',
    from: request(0),
    steps: [['textarea[name=text]', 'who needs it?'], ['button[value=comment]']],
    then: /who needs it\?/,
  },
  {
    form: 'POST /console/approvals/:id',
    name: 'hand over',
    from: request(0),
    steps: [['.rail summary'], ['.rail input[name=to]', 'oidc:corp:bo'], ['button[value=hand-over]']],
    then: /handed it to/,
  },
  {
    form: 'POST /console/approvals/:id',
    name: 'grant',
    from: request(0),
    steps: [['textarea[name=comment]', 'agreed'], ['button[value=granted]']],
    then: /Granted by Ana[^]*agreed/,
  },
  {
    form: 'POST /console/approvals/:id',
    name: 'deny',
    from: request(0),
    steps: [['textarea[name=comment]', 'too early'], ['button[value=denied]']],
    then: /Denied by Ana[^]*too early/,
  },
  {
    form: 'POST /console/delegations',
    name: 'delegate',
    from: () => '/console/delegations',
    steps: [
      ['input[name=to]', 'oidc:corp:bo'],
      ['input[name=reason]', 'away'],
      ['main form[action$=delegations] button'],
    ],
    then: /oidc:corp:bo[^]*away/,
  },
  {
    form: 'POST /console/delegations/:id',
    name: 'end a delegation',
    from: () => '/console/delegations',
    steps: [['main form[action*="delegations/"] button']],
    then: /every request · away\s*Taken back/,
  },
  {
    form: 'POST /console/policies/simulate',
    name: 'try a change',
    from: () => '/console/policies',
    steps: [
      ['details:has(form[action$=simulate]) summary'],
      ['textarea[name=base]', ORDERS],
      ['textarea[name=head]', ORDERS_BROKEN],
      ['form[action$=simulate] button'],
    ],
    then: /What shop would decide[^]*breaking-elsewhere-asks/,
  },
  {
    form: 'POST /console/policies/replay',
    name: 'decide again',
    from: () => '/console/policies',
    steps: [['details:has(form[action$=replay]) summary'], ['form[action$=replay] button']],
    then: /decisions? under shop/,
  },
  {
    form: 'POST /console/routes/:name',
    name: 'promote',
    from: () => '/console/routes/orders',
    steps: [['textarea[name=comment]', 'the shop sends it'], ['main form[action$=orders] button']],
    then: /Unchanged/,
  },
  {
    form: 'POST /console/break-glass',
    name: 'open an exception',
    from: () => '/console/break-glass',
    steps: [
      ['select[name=route]', 'orders'],
      ['textarea[name=reason]', 'the registry is down since noon'],
      ['main form[action$=break-glass] button'],
    ],
    then: /the registry is down/,
  },
  {
    form: 'POST /console/break-glass/:id',
    name: 'close an exception',
    from: () => '/console/break-glass',
    steps: [['main form[action*="break-glass/"] button']],
    then: /Enforcement is on|closed|Closed/,
  },
  {
    form: 'POST /console/notifications',
    name: 'test a channel',
    from: () => '/console/notifications',
    steps: [['main form[action$=notifications] button']],
    then: /The test message is in the queue/,
  },
  {
    form: 'POST /console/keys',
    name: 'make a key',
    from: () => '/console/keys',
    steps: [['input[name=name]', 'ci'], ['main form[action$=keys] button']],
    then: /pf_live_/,
  },
  {
    form: 'POST /console/keys/:id',
    name: 'rotate a key',
    from: () => '/console/keys',
    steps: [['button[aria-label="Rotate ci"]']],
    then: /pf_live_/,
  },
]

/** Presses Tab until the element has the focus, as a person does. Each element on the way shows that it has the focus. */
async function reach(page: Page, selector: string): Promise<void> {
  for (let presses = 0; presses < 200; presses += 1) {
    const { isThere, ring, name } = await focused(page, selector)
    if (ring !== null) assert.equal(ring, 'seen', `${name} on ${page.url()}`)
    if (isThere) return
    await page.keyboard.press('Tab')
  }
  assert.fail(`the keyboard does not reach ${selector}`)
}

interface Focused {
  readonly isThere: boolean
  /** How the focus shows; null: nothing has it. */
  readonly ring: 'seen' | 'hidden' | 'no ring' | null
  readonly name: string
}

function focused(page: Page, selector: string): Promise<Focused> {
  return page.evaluate(`(() => {
    const active = document.activeElement
    const { width, height } = active.getBoundingClientRect()
    const { outlineStyle, outlineWidth } = getComputedStyle(active)
    const hasRing = outlineStyle !== 'none' && parseFloat(outlineWidth) >= 2
    return {
      isThere: active.matches(${JSON.stringify(selector)}),
      ring: active === document.body ? null : width * height === 0 ? 'hidden' : hasRing ? 'seen' : 'no ring',
      name: active.tagName + ' ' + (active.name ?? active.textContent),
    }
  })()`)
}

test('the table has every form of the console', () => {
  const forms = PAGES.filter(({ method }) => method === 'POST').map(({ method, path }) => `${method} ${path}`)
  assert.deepEqual(new Set(ACTIONS.map(({ form }) => form)), new Set(forms))
})

test('the fields of a time show the focus too, with their buttons that open a calendar', async (t) => {
  const browser = await openBrowser(t)
  if (browser === null) return
  const scene = await startConsoleScene(t)
  const { page } = await signedIn(browser, scene.url, scene.admin)
  await page.goto(`${scene.url}/console/ledger`)
  await reach(page, 'input[name=from]')
  await reach(page, 'main form button')
})

test('every action is done with the keyboard alone', async (t) => {
  const browser = await openBrowser(t)
  if (browser === null) return
  const url = await listening(
    t,
    createServer((_request, response) => response.end()),
  )
  const scene = await startConsoleScene(t, { notifications: { channels: [{ type: 'slack', name: 'ops', url }] } })
  await fillScene(scene)
  const { page, problems } = await signedIn(browser, scene.url, await scene.newKey('Ana', 'admin', 'payments'))
  for (const { name, from, steps, then } of ACTIONS) {
    await page.goto(scene.url + (await from(scene)))
    for (const [selector, text] of steps) {
      await reach(page, selector)
      if (text === undefined) await page.keyboard.press('Enter')
      else if (text.length < 100) await page.keyboard.type(text)
      else await page.keyboard.insertText(text)
    }
    await page
      .getByRole('main')
      .filter({ hasText: then })
      .waitFor({ timeout: 10_000 })
      .catch(async () => assert.fail(`${name}: ${(await page.getByRole('main').textContent()) ?? ''}`))
  }
  assert.deepEqual(problems, [])
  await reach(page, 'form[action$=sign-out] button')
  await page.keyboard.press('Enter')
  await page.waitForURL(/sign-in/)
})

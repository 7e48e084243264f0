/** Debian's Chromium, driven by playwright-core, for tests of the console. */
import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { chromium, type Browser, type BrowserContext, type Page } from 'playwright-core'
import { hasProgram } from './programs.ts'

/** Null: the test is skipped, because there is no Chromium; in CI that is a failure. */
export async function openBrowser(t: TestContext): Promise<Browser | null> {
  if (!hasProgram(t, 'chromium')) return null
  const browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: ['--no-sandbox'] })
  t.after(() => browser.close())
  return browser
}

/** A page of a person who signs in with a key. A message of the browser about its policy fails the test. */
export async function signedIn(
  browser: Browser,
  url: string,
  key: string,
  options: Parameters<Browser['newContext']>[0] = {},
): Promise<{ readonly page: Page; readonly context: BrowserContext; readonly problems: readonly string[] }> {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, ...options })
  const page = await context.newPage()
  const problems: string[] = []
  page.on('console', (message) => {
    if (message.type() === 'error') problems.push(message.text())
  })
  page.on('pageerror', (error) => problems.push(String(error)))
  await page.goto(`${url}/console`)
  await page.getByLabel('API key').fill(key)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.waitForURL((address) => address.pathname === '/console')
  assert.equal(await page.getByRole('heading', { level: 1 }).textContent(), 'Overview')
  return { page, context, problems }
}

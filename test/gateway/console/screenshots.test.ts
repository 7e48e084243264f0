/**
 * The pictures of the console in the documents. `npm run screenshots` takes them from the real gateway. Every run holds them against
 * the pages: each shows a page that still has this heading, at this size, and a document uses it.
 */
import assert from 'node:assert/strict'
import { mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { openBrowser, signedIn } from '../../fakes/browser.ts'
import { fillScene, startConsoleScene, type ConsoleScene } from '../../fakes/console-scene.ts'
import { listAt, textAt } from '../../json.ts'

const ROOT = join(import.meta.dirname, '../../..')
const IMAGES = join(ROOT, 'docs/images')
/** Of all pictures together. */
const MOST_BYTES = 1_500_000

const WIDE = { width: 1440, height: 900 }
const PHONE = { width: 360, height: 740 }

interface Screenshot {
  readonly file: string
  readonly from: (scene: ConsoleScene) => string | Promise<string>
  readonly heading: RegExp
  readonly viewport: { readonly width: number; readonly height: number }
  readonly colorScheme: 'light' | 'dark'
}

const held = async ({ api }: ConsoleScene) => {
  const { body } = await api('GET', '/api/v1/approvals?state=pending')
  const row = listAt(body, 'approvals').find((one) => textAt(one, 'operation') === 'merge')
  return `/console/approvals/${textAt(row, 'id')}`
}

const SCREENSHOTS: readonly Screenshot[] = [
  { file: 'console-overview.png', from: () => '/console', heading: /^Overview$/, viewport: WIDE, colorScheme: 'light' },
  {
    file: 'console-approval.png',
    from: held,
    heading: /^Merge acme\/orders #42/,
    viewport: WIDE,
    colorScheme: 'light',
  },
  { file: 'console-approval-phone.png', from: held, heading: /^Merge acme/, viewport: PHONE, colorScheme: 'dark' },
  {
    file: 'console-route.png',
    from: () => '/console/routes/orders',
    heading: /^orders$/,
    viewport: WIDE,
    colorScheme: 'light',
  },
  {
    file: 'console-policies.png',
    from: () => '/console/policies',
    heading: /^Policies$/,
    viewport: WIDE,
    colorScheme: 'dark',
  },
  {
    file: 'console-ledger.png',
    from: () => '/console/ledger',
    heading: /^Ledger$/,
    viewport: WIDE,
    colorScheme: 'light',
  },
]

test('each picture shows a page of today, or is taken anew', async (t) => {
  const isTaken = process.env['PREFLIGHT_SCREENSHOTS'] === '1'
  const browser = await openBrowser(t)
  if (browser === null) return
  const scene = await startConsoleScene(t)
  await fillScene(scene)
  const key = await scene.newKey('Ana', 'approver', 'payments')
  mkdirSync(IMAGES, { recursive: true })
  for (const { file, from, heading, viewport, colorScheme } of SCREENSHOTS) {
    const { page, context } = await signedIn(browser, scene.url, key, { viewport, colorScheme })
    await page.goto(scene.url + (await from(scene)))
    assert.match((await page.getByRole('heading', { level: 1 }).textContent())?.trim() ?? '', heading, file)
    if (isTaken) await page.screenshot({ path: join(IMAGES, file) })
    assert.deepEqual(sizeOf(readFileSync(join(IMAGES, file))), viewport, file)
    await context.close()
  }
})

/** Width and height in the header of a PNG. */
function sizeOf(png: Buffer): { readonly width: number; readonly height: number } {
  assert.equal(png.subarray(1, 4).toString(), 'PNG')
  return { width: png.readUInt32BE(16), height: png.readUInt32BE(20) }
}

test('documents use every picture, every picture is in the table, and together they are small', () => {
  const files = readdirSync(IMAGES)
  assert.deepEqual(files.toSorted(), SCREENSHOTS.map(({ file }) => file).toSorted())
  const bytes = files.reduce((sum, file) => sum + statSync(join(IMAGES, file)).size, 0)
  assert.ok(bytes <= MOST_BYTES, `${bytes} bytes`)
  const documents = readdirSync(join(ROOT, 'docs')).filter((name) => name.endsWith('.md'))
  const text = documents.map((name) => readFileSync(join(ROOT, 'docs', name), 'utf8')).join('\n')
  for (const file of files) assert.match(text, new RegExp(`!\\[[^\\]]{10,}\\]\\(images/${file}\\)`), file)
})

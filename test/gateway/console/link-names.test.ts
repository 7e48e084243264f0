/** Links of the console as a screen reader lists them: by their texts alone. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { consoleAddresses } from '../../fakes/console-pages.ts'
import { fillScene, startConsoleScene } from '../../fakes/console-scene.ts'
import { visitorWith } from '../../fakes/console-visitor.ts'

test('links of one page that lead to different places have different texts', async (t) => {
  const scene = await startConsoleScene(t)
  await fillScene(scene)
  const again = { operation: 'merge', repository: 'acme/orders', environment: 'production' }
  for (let count = 0; count < 3; count += 1) await scene.ask(again)
  const visitor = await visitorWith(scene.url, scene.admin)
  for (const path of [...(await consoleAddresses(scene)), '/console']) {
    const page = await (await visitor.get(path)).text()
    const places = new Map<string, string>()
    for (const [, place = '', content = ''] of page.matchAll(/<a\b[^>]*?href="([^"]*)"[^>]*>([^]*?)<\/a>/g)) {
      const text = content
        .replaceAll(/<[^>]*>/g, '')
        .replaceAll(/\s+/g, ' ')
        .trim()
      assert.equal(places.get(text) ?? place, place, `${path}: ${text}`)
      places.set(text, place)
    }
  }
})

/** The scenes of `npm run first-stop`, each with a call that is stopped. */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { runScene, SCENES } from '../../bench/first-stop/scenes.ts'

const ROOT = join(import.meta.dirname, '../..')

for (const scene of SCENES)
  test(`the first call is stopped before ${scene.title}`, async () => {
    assert.match(await runScene(scene, ROOT), /\S/, 'the refusal is shown')
  })

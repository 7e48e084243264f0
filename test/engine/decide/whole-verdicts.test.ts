/** Verdicts, whole: every text, step and row that people and agents read, in situations that together show all there is. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { suite, test } from 'node:test'
import { parse } from 'yaml'
import { assertProducerForm } from '../../../engine/decide/envelope.ts'
import { issueOn } from '../../fakes/decisions.ts'
import { at } from '../../json.ts'
import { SITUATIONS, reported } from './situations.ts'

const wanted: unknown = parse(readFileSync(new URL('whole-verdicts.yaml', import.meta.url), 'utf8'))

suite('a verdict says all of it', () => {
  for (const [name, verdictOf] of Object.entries(SITUATIONS))
    test(name, () => {
      const verdict = verdictOf()
      assert.deepEqual(JSON.parse(JSON.stringify(reported(verdict))), at(wanted, name))
      // What is said can be issued: within all bounds, by the published schema.
      assertProducerForm(issueOn(verdict).envelope)
    })
})

/** Wrong arguments of every public function, as programs in JavaScript can pass them: no error of the runtime, but one that names the member. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as engine from '../../engine/index.ts'
import * as client from '../../gateway/client.ts'
import * as gateway from '../../gateway/index.ts'
import { sha256Hex } from '../../gateway/runtime/hash.ts'

class Trap extends Error {}
const trap = (): never => {
  throw new Trap('trap')
}

/** By name: what is passed as each of the first arguments. */
const HOSTILE: Readonly<Record<string, unknown>> = {
  undefined,
  null: null,
  'an object': {},
  'a list': [],
  'a list of null': [null],
  'a list of empty objects': [{}],
  text: 'x',
  'a number': 7,
  'a function': () => 'x',
  'a proxy that throws': new Proxy({}, { get: trap, has: trap, ownKeys: trap, getOwnPropertyDescriptor: trap }),
}

/** What the runtime says of a value of the wrong type. */
const OF_RUNTIME = /Cannot (?:read|destructure|convert)|is not (?:a function|iterable|a constructor)|undefined or null/

const FUNCTIONS: readonly (readonly [string, unknown])[] = Object.entries({ ...engine, ...gateway, ...client }).filter(
  ([, exported]) => typeof exported === 'function',
)

for (const [name, called] of FUNCTIONS)
  test(`${name} answers wrong arguments with a clear error`, async () => {
    assert.ok(typeof called === 'function')
    for (const [what, value] of Object.entries(HOSTILE))
      for (const further of [[], [sha256Hex], ['x', sha256Hex], [value, value]])
        try {
          await Reflect.apply(called, undefined, [value, ...further])
        } catch (error) {
          if (error instanceof Trap) continue
          assert.ok(error instanceof TypeError, `${what}: ${String(error)}`)
          assert.doesNotMatch(error.message, OF_RUNTIME, what)
        }
  })

const ERRORS: readonly (readonly [what: string, call: () => unknown, message: string])[] = [
  ['no input', () => apply(engine.decide), 'decide: input must be an object, and is undefined.'],
  [
    'an empty input',
    () => apply(engine.decide, {}),
    'decide: input.analyses must be a list of objects, and is undefined.',
  ],
  [
    'a hash for a function',
    () => apply(engine.changeSetDigests, [], 'sha256'),
    'changeSetDigests: sha256 must be a function, and is text.',
  ],
  [
    'an artifact without sides',
    () => apply(engine.changeSetDigests, [{ id: 'a', type: 'openapi' }], sha256Hex),
    'changeSetDigests: artifacts[0].before must be text, and is undefined.',
  ],
  [
    'a group without occurrences',
    () => apply(engine.countFindings, [{}]),
    'countFindings: groups[0].occurrences must be a list, and is undefined.',
  ],
]

function apply(called: (...given: never[]) => unknown, ...given: readonly unknown[]): unknown {
  return Reflect.apply(called, undefined, given)
}

for (const [what, call, message] of ERRORS)
  test(`${what}: the error names the member, what is expected and what was given`, () => {
    assert.throws(call, { name: 'TypeError', message })
  })

/** Every setting of every binding: what a change, a first mention and a removal of it come to, in AsyncAPI 2.6 and 3.0. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { compare } from '../../../engine/formats/compare.ts'
import { sha256Hex } from '../../../gateway/runtime/hash.ts'
import { SETTINGS, type Kind, type Place } from './binding-table.ts'

type Members = Readonly<Record<string, unknown>>
type Worst = 'breaking' | 'dangerous' | 'info' | 'none'

const INFO = { title: 't', version: '1' }
const PAYLOAD = { type: 'object' }

type At = (wanted: Place) => Members

const WRITE: Readonly<Record<string, (at: At) => object>> = {
  '3.0': (at) => ({
    asyncapi: '3.0.0',
    info: INFO,
    servers: { main: { host: 'broker.example', protocol: 'any', ...at('server') } },
    channels: { c: { address: 'c', messages: { m: { payload: PAYLOAD, ...at('message') } }, ...at('channel') } },
    operations: { o: { action: 'receive', channel: { $ref: '#/channels/c' }, ...at('operation') } },
  }),
  '2.6': (at) => ({
    asyncapi: '2.6.0',
    info: INFO,
    servers: { main: { url: 'broker.example', protocol: 'any', ...at('server') } },
    channels: {
      c: { publish: { message: { payload: PAYLOAD, ...at('message') }, ...at('operation') }, ...at('channel') },
    },
  }),
}

function worstOf(version: string, place: Place, before: Members | null, after: Members | null): Worst {
  const [base, head] = [before, after].map((bindings) => {
    const at: At = (wanted) => (wanted === place && bindings !== null ? { bindings } : {})
    return JSON.stringify(WRITE[version]?.(at))
  })
  const result = compare({ id: 'api', type: 'asyncapi', before: base ?? '', after: head ?? '' }, {}, sha256Hex)
  assert.ok(result.ok)
  const levels = result.value.groups.map(({ level }) => level)
  return (['breaking', 'dangerous', 'info'] as const).find((level) => levels.includes(level)) ?? 'none'
}

/** A binding with the value at the end of the steps, beside a setting that nobody knows; a step that is a number is an item. */
function binding(protocol: string, steps: string, value: unknown): Members {
  const held = steps
    .split('/')
    .toReversed()
    .reduce<unknown>((inner, step) => {
      if (step === '0') return [inner]
      return inner === undefined ? { other: 1 } : { other: 1, [step]: inner }
    }, value)
  return { [protocol]: held }
}

/** A change forth and back, the first mention of the second value, the removal of the first. */
type Levels = readonly [forth: Worst, back: Worst, added: Worst, removed: Worst]

const LEVELS: Readonly<Record<Kind, Levels>> = {
  destination: ['breaking', 'breaking', 'dangerous', 'dangerous'],
  declaration: ['breaking', 'breaking', 'dangerous', 'dangerous'],
  encoding: ['breaking', 'breaking', 'dangerous', 'dangerous'],
  delivery: ['dangerous', 'dangerous', 'dangerous', 'dangerous'],
  limit: ['dangerous', 'info', 'dangerous', 'info'],
  // What is received, clients bring: the first schema refuses what any was admitted, the second one more.
  schema: ['breaking', 'info', 'breaking', 'info'],
  upkeep: ['info', 'info', 'info', 'info'],
}

/** Where the specification says what holds without the setting, that value is the same as silence. */
const SILENT: Readonly<Record<string, Levels>> = {
  'amqp is': ['breaking', 'breaking', 'none', 'breaking'],
  'amqp exchange/vhost': ['breaking', 'breaking', 'breaking', 'breaking'],
  'amqp queue/vhost': ['breaking', 'breaking', 'breaking', 'breaking'],
  'sqs queue/fifoQueue': ['breaking', 'breaking', 'none', 'breaking'],
}

const SCHEMAS: Readonly<Record<string, readonly [unknown, unknown]>> = {
  whole: [{ type: 'string' }, { type: 'string', enum: ['a'] }],
  members: [
    { type: 'object', properties: { a: { type: 'string' } } },
    { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] },
  ],
}
/** A property that is described no more is a finding of its own. */
const DESCRIBED: Levels = ['breaking', 'info', 'breaking', 'dangerous']
const WHOLE: ReadonlySet<string> = new Set(['key', 'correlationData'])

suite('settings of bindings', () => {
  for (const [place, protocol, steps, kind, first, second] of SETTINGS) {
    test(`${protocol} ${steps} of a ${place} is of the kind ${kind}`, () => {
      const isWhole = kind !== 'schema' || WHOLE.has(steps)
      const schemas = SCHEMAS[isWhole ? 'whole' : 'members']
      const [one, other] = kind === 'schema' ? (schemas ?? []) : [first, second]
      const [had, has, none] = [one, other, undefined].map((value) => binding(protocol, steps, value))
      const expected = SILENT[`${protocol} ${steps}`] ?? (isWhole ? LEVELS[kind] : DESCRIBED)
      for (const version of Object.keys(WRITE)) {
        const worst = (before: Members | undefined, after: Members | undefined): Worst =>
          worstOf(version, place, before ?? null, after ?? null)
        const found = [worst(had, has), worst(has, had), worst(none, has), worst(had, none)]
        assert.deepEqual(found, expected, version)
      }
    })
  }

  test('with its whole binding, a schema is judged as beside others', () => {
    for (const [place, protocol, steps, kind] of SETTINGS) {
      if (kind !== 'schema') continue
      const [, narrow] = SCHEMAS[WHOLE.has(steps) ? 'whole' : 'members'] ?? []
      const bindings = { [protocol]: { [steps]: narrow } }
      for (const version of Object.keys(WRITE)) {
        assert.equal(worstOf(version, place, null, bindings), 'breaking', `${protocol} ${steps} comes`)
        assert.equal(worstOf(version, place, bindings, null), 'dangerous', `${protocol} ${steps} goes`)
      }
    }
  })
})

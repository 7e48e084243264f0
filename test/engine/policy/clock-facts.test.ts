/** Conditions that read the clock: when a decision under them ends. */
// Over every fact that a condition can read: asked again before a decision ends, the policy answers the same, however late.
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { compare, compilePolicy, type Decision, type EarlierDecision } from '../../../engine/internal.ts'
import { fakeAnalysis } from '../../fakes/comparisons.ts'
import { decideOn, fakePolicy } from '../../fakes/decisions.ts'
import { sha256 } from '../../fakes/keys.ts'

/** 2026-11-20T17:59:30Z. */
const AT = Date.UTC(2026, 10, 20, 17, 59, 30) / 1000
const WINDOW = 90
const TTL = 300
/** All of the history has left the window by then. */
const SECONDS = 100

const before = (seconds: number, decision: Decision, isSameInput = false): EarlierDecision => ({
  decision,
  at: AT - seconds,
  isSameInput,
})
/** One of each class, in an order that flips, at ages of which each leaves the window at another moment. */
const HISTORY = [
  before(20, 'ALLOW'),
  before(31, 'BLOCK', true),
  before(42, 'WARN'),
  before(53, 'REQUIRE_APPROVAL'),
  before(64, 'ALLOW', true),
]

/** Fact → conditions that read it, in every form of reading. Facts that the clock does not act on have none: their values come with the input. */
const CLOCKED: Readonly<Record<string, readonly string[]>> = {
  'time.date': ["time.date > '2026-11-20'", "time['date'] == '2026-11-20'"],
  'time.weekday': ['time.weekday == 5', "time['weekday'] in [6, 7]"],
  'time.hour': ['time.hour >= 18', "time['hour'] < 18"],
  'time.minute': ['time.minute == 0', 'time.minute % 2 == 1', "time['minute'] > 58"],
  'time.unix': [
    `time.unix < ${AT + 7}`,
    `${AT + 7} <= time.unix`,
    'time.unix % 11 == 3',
    "time['unix'] % 7 == 2",
    "time['un' + 'ix'] % 13 == 4",
    `[1].exists(x, time.unix > ${AT + 9})`,
    'size(time) == 5 && time.unix % 5 == 0',
  ],
  'history.window': ['history.window == 90'],
  'history.decisions': ['history.decisions > 3', "history['decisions'] == 5"],
  'history.allow': ['history.allow == 2', "history['allow'] > 1"],
  'history.warn': ['history.warn > 0'],
  'history.require_approval': ['history.require_approval == 1'],
  'history.block': ['history.block >= 1'],
  'history.flips': ['history.flips > 1', 'history.flips == 3'],
  'history.same_input': ['history.same_input == 2', "history['same_' + 'input'] > 1"],
  'history.last': ["history.last == 'ALLOW'", 'history.last != null'],
  'history.last_age': [
    'history.last_age < 60',
    '60 >= history.last_age',
    'history.last_age == 33',
    'history.last_age != 33',
    'history.last != null && history.last_age > 40',
    'history.last_age % 7 == 3',
    "history['last_age'] < 25",
    "history['last' + '_age'] < 25",
    'history.last_age < 59.5',
    'history.last_age < history.window - 3',
    '[1].exists(x, history.last_age > 26)',
    'history.exists(name, history[name] == 26)',
  ],
}

function decisionAt(policy: ReturnType<typeof fakePolicy>, now: number) {
  const { decision, ttl_seconds } = decideOn([], { policy, history: HISTORY, now })
  return { decision, ends: now + ttl_seconds }
}

suite('a decision ends before the clock turns a condition on', () => {
  for (const [fact, conditions] of Object.entries(CLOCKED))
    test(fact, () => {
      for (const when of conditions) {
        const policy = fakePolicy({
          rules: [{ id: 'r', when, then: 'WARN', for: 'change_set' }],
          history: { window: WINDOW },
          ttl: { default: TTL, operations: { merge: TTL } },
        })
        const made = Array.from({ length: SECONDS }, (_, second) => decisionAt(policy, AT + second))
        for (const [second, { decision, ends }] of made.entries()) {
          const turned = made.findIndex((other, later) => later > second && other.decision !== decision)
          assert.ok(turned === -1 || ends <= AT + turned, `${when} at ${second} answers otherwise at ${turned}`)
        }
      }
    })
})

test('what time does not turn keeps the whole validity', () => {
  for (const when of ['history.window == 90', "context.operation == 'merge'", 'change_set.breaking > 0']) {
    const policy = fakePolicy({
      rules: [{ id: 'r', when, then: 'WARN', for: 'change_set' }],
      history: { window: WINDOW },
      ttl: { default: TTL, operations: { merge: TTL } },
    })
    assert.equal(decisionAt(policy, AT).ends, AT + TTL, when)
  }
})

test('a comparison of an age ends a decision at that age, not earlier', () => {
  for (const [when, seconds] of [
    ['history.last_age < 60', 40],
    ['history.last_age > 60', 40],
    ["history.last == 'ALLOW'", 70],
    ['history.block > 0', 59],
    ['history.decisions > 0', 26],
  ] as const) {
    const policy = fakePolicy({
      rules: [{ id: 'r', when, then: 'WARN', for: 'change_set' }],
      history: { window: WINDOW },
      ttl: { default: TTL, operations: { merge: TTL } },
    })
    assert.equal(decisionAt(policy, AT).ends - AT, seconds, when)
  }
})

/** The places of a contract that have a life cycle, each with the life cycle written into it. */
const LIFE_CYCLES: Readonly<Record<string, (type: 'openapi' | 'json_schema', lifecycle: object) => string | null>> = {
  operation: (type, lifecycle) => (type === 'openapi' ? openApi({ ...OPERATION, ...lifecycle }) : null),
  parameter: (type, lifecycle) =>
    type === 'openapi' ? openApi({ ...OPERATION, parameters: [{ ...PARAMETER, ...lifecycle }] }) : null,
  property: (type, lifecycle) => {
    const schema = { type: 'object', properties: { name: { type: 'string', ...lifecycle } } }
    if (type === 'json_schema') return JSON.stringify(schema)
    const content = { 'application/json': { schema } }
    return openApi({ responses: { 200: { description: 'Pets', content } } })
  },
}
const OPERATION = { responses: { 200: { description: 'Pets' } } }
const PARAMETER = { name: 'limit', in: 'query', schema: { type: 'integer' } }
const openApi = (get: object) =>
  JSON.stringify({ openapi: '3.0.3', info: { title: 'Pets', version: '1' }, paths: { '/pets': { get } } })

const STATES = [
  {},
  { deprecated: true },
  { deprecated: true, 'x-sunset': '2026-11-21' },
  { deprecated: true, 'x-sunset': '2026-11-23' },
  { deprecated: true, 'x-sunset': '2026-12-31' },
  { deprecated: true, 'x-sunset': 'soon' },
] as const
const DAYS = ['2026-11-19', '2026-11-20', '2026-11-21', '2026-11-22', '2026-11-23', '2026-11-24', '2026-12-01']

suite('a comparison that another day would change says that it read the day', () => {
  const types = ['openapi', 'json_schema'] as const
  for (const type of types) {
    for (const [place, written] of Object.entries(LIFE_CYCLES)) {
      const documents = [...STATES.map((state) => written(type, state)), type === 'openapi' ? openApi(OPERATION) : '{}']
      if (documents.includes(null)) continue
      for (const promised of [0, 2])
        test(`${type} ${place}, ${promised} promised days`, () => {
          let turned = 0
          for (const base of documents)
            for (const head of documents) {
              const artifact = { id: 'contract', type, before: base ?? '', after: head ?? '' }
              const answers = DAYS.map((today) => {
                const compared = compare(artifact, { today, deprecation_days_stable: promised }, sha256)
                assert.ok(compared.ok)
                return { found: JSON.stringify(compared.value.groups), isRead: compared.value.reads_day }
              })
              for (const [index, { found, isRead }] of answers.entries()) {
                if (answers.slice(index).every((later) => later.found === found)) continue
                turned += 1
                assert.ok(isRead, `${DAYS[index]}: ${base} → ${head}`)
              }
            }
          assert.ok(turned > 0)
        })
    }
  }
})

test('a decision ends with the day that its comparison read, whether the policy promises days or not', () => {
  const policy = fakePolicy({ ttl: { default: 86_400, operations: { merge: 86_400 } } })
  for (const [reads_day, seconds] of [
    [true, 6 * 3600 + 30],
    [false, 86_400],
  ] as const) {
    const analyses = [fakeAnalysis('api', [], { reads_day })]
    assert.equal(decideOn([], { policy, analyses, now: AT }).ttl_seconds, seconds)
  }
})

/** As the compiler lists them. */
function fieldsOf(name: string): readonly string[] {
  const rules = [{ id: 'a', when: `${name}.nothing == 1`, then: 'BLOCK' }]
  const compiled = compilePolicy(
    { apiVersion: 'preflight.dev/v1', kind: 'Policy', metadata: { name: 'p' }, rules },
    sha256,
  )
  assert.ok(!compiled.ok)
  const listed = /there are (.*)$/.exec(compiled.problem[0]?.message ?? '')?.[1] ?? ''
  return listed.split(', ')
}

test('the table has every fact of the variables that depend on the time', () => {
  const clocked = ['time', 'history'].flatMap((name) => fieldsOf(name).map((field) => `${name}.${field}`))
  assert.deepEqual(Object.keys(CLOCKED).toSorted(), clocked.toSorted())
  const variables = ['finding', 'context', 'operation', 'tool', 'findings', 'change_set', 'route', 'time', 'history']
  const rules = [{ id: 'a', when: 'nothing', then: 'BLOCK' }]
  const compiled = compilePolicy(
    { apiVersion: 'preflight.dev/v1', kind: 'Policy', metadata: { name: 'p' }, rules },
    sha256,
  )
  assert.ok(!compiled.ok)
  // A new variable: say above whether the clock acts on it.
  assert.match(compiled.problem[0]?.message ?? '', new RegExp(`there are ${variables.join(', ')}$`))
})

/** docs/reference/envelope.md against the schema of the envelope: every member, value and bound is on the page. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { controlEnvelope, DECISION_CLASSES, DECISIONS } from '../../engine/internal.ts'
import { EnvelopeDocument } from '../../engine/decide/envelope-schema.ts'
import { COMPLETENESS_MODES } from '../../engine/decide/envelope-vocabulary.ts'
import { decideOn, issueOn } from '../fakes/decisions.ts'
import { namesIn, namesOf, rowsIn, sectionOf } from './page.ts'

/** What the test reads of a JSON Schema. */
interface Form {
  readonly type?: string | readonly string[]
  readonly properties?: Readonly<Record<string, Form>>
  readonly items?: Form
  readonly enum?: readonly unknown[]
  readonly const?: unknown
  readonly required?: readonly string[]
  readonly maxLength?: number
  readonly minLength?: number
  readonly maxItems?: number
}

const root: Form = JSON.parse(JSON.stringify(EnvelopeDocument))
const required = new Set(root.required)

/** Members of the root and of every object in it, by the section that holds their table. */
const OBJECTS: Readonly<Record<string, readonly string[]>> = {
  reason: ['warnings'],
  'next-action': ['next_actions'],
  receipt: ['receipt'],
  evidence: ['evidence'],
  'pattern-source': ['pattern_sources'],
  'detected-pattern': ['detected_patterns'],
  binding: ['binding'],
  authority: ['authority'],
  derivation: ['derivation'],
  'required-action-core': ['required_action_core'],
  'next-agent-step': ['next_agent_step'],
  'remediation-transaction': ['remediation_transaction'],
  'required-change': ['remediation_transaction', 'required_changes'],
  resubmission: ['remediation_transaction', 'resubmission'],
  'recheck-scope': ['remediation_transaction', 'recheck_scope'],
  'policy-pin-status': ['policy_pin_status'],
  'blast-radius': ['blast_radius'],
}

function formAt(path: readonly string[]): Form {
  return path.reduce((form, name) => {
    const member = (form.items ?? form).properties?.[name]
    assert.ok(member, name)
    return member.items ?? member
  }, root)
}

const sections: readonly (readonly [anchor: string, members: Readonly<Record<string, Form>>])[] = [
  ['required-members', pick((name) => required.has(name))],
  ['optional-members', pick((name) => !required.has(name))],
  ...Object.entries(OBJECTS).map(([anchor, path]) => [anchor, formAt(path).properties ?? {}] as const),
]

function pick(isWanted: (name: string) => boolean): Readonly<Record<string, Form>> {
  return Object.fromEntries(Object.entries(root.properties ?? {}).filter(([name]) => isWanted(name)))
}

/** @param isNullable every member of the table may be null, and the page says so above it */
function faultsOf(name: string, form: Form, [, type = '', meaning = '']: readonly string[], isNullable: boolean) {
  const { items = {} } = form
  // Modes have a table of their own.
  const elsewhere = name === 'completeness_mode' ? namesIn(sectionOf('envelope.md', 'completeness-modes')) : []
  const named = new Set([...namesIn(meaning), ...elsewhere])
  const values = [...(form.enum ?? []), ...(items.enum ?? []), form.const].filter((value) => typeof value === 'string')
  const bounds = [form.maxLength, form.maxItems].filter((bound) => bound !== undefined)
  const mayBeNull = [form.type, items.type].flat().includes('null') || form.enum?.includes(null) === true
  return [
    ...values.filter((value) => !named.has(value)).map((value) => `${name}: ${value}`),
    ...bounds.filter((bound) => !new RegExp(`\\b${bound}\\b`).test(type)).map((bound) => `${name}: up to ${bound}`),
    ...(isNullable || /\bnull\b/.test(type) === mayBeNull ? [] : [`${name}: null`]),
  ]
}

suite('the tables of envelope.md', () => {
  for (const [anchor, members] of sections) {
    const rows = rowsIn(sectionOf('envelope.md', anchor))
    test(`#${anchor} names every member, in the order of the schema`, () => {
      assert.deepEqual(
        rows.map(([cell]) => namesOf(cell)[0]),
        Object.keys(members),
      )
    })
    test(`#${anchor} has the values, the bounds and the nulls of each member`, () => {
      const faults = Object.entries(members).flatMap(([name, form]) => {
        const row = rows.find(([cell]) => namesOf(cell)[0] === name) ?? []
        return faultsOf(name, form, row, anchor === 'optional-members')
      })
      assert.deepEqual(faults, [])
    })
  }

  test('give each decision its directive', () => {
    const rows = rowsIn(sectionOf('envelope.md', 'decisions-and-execution-actions'))
    assert.deepEqual(
      rows.map(([decision, action, safe]) => [...namesOf(decision), ...namesOf(action), safe]),
      DECISIONS.map((decision) => {
        const { action, safeForAgent } = DECISION_CLASSES[decision]
        return [decision, action, String(safeForAgent)]
      }),
    )
  })

  test('name every completeness mode', () => {
    const modes = rowsIn(sectionOf('envelope.md', 'completeness-modes')).flatMap(([cell]) => namesOf(cell))
    assert.deepEqual(modes, [...COMPLETENESS_MODES])
  })

  test('name every member of a control envelope', () => {
    const { envelope } = issueOn(decideOn([]))
    const enforcement = { mode: 'enforce', tier: 'gateway', traffic: 'explicit' } as const
    const control = controlEnvelope(envelope, { verified: true, state: 'current', now: 0, enforcement })
    assert.deepEqual(
      rowsIn(sectionOf('envelope.md', 'control-envelope')).flatMap(([cell]) => namesOf(cell)),
      Object.keys(control),
    )
    assert.deepEqual(
      rowsIn(sectionOf('envelope.md', 'receipt-view')).flatMap(([cell]) => namesOf(cell)),
      Object.keys(control.receipt_view),
    )
    const bound = rowsIn(sectionOf('envelope.md', 'receipt-view')).find(([cell]) => cell === '`binds_to`')
    assert.deepEqual(namesOf(bound?.[1]), Object.keys(control.receipt_view.binds_to))
  })
})

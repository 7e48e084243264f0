/** Every change that walkers of OpenAPI report is judged: whatever its facts are, a row says what it means, or that it means nothing. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import type { OpenApiChange, OpenApiFacts } from '../../../engine/rules/openapi/changes.ts'
import { OPENAPI_JUDGE, OPENAPI_ROWS } from '../../../engine/rules/openapi/rules.ts'

const CAME_OR_WENT = ['added', 'removed'] as const
const BEGAN = ['became', 'ceased'] as const
const EITHER = [true, false] as const
const REMOVALS = ['unannounced', 'announced', 'before-sunset', 'sunset-invalid'] as const
const PAYLOADS = ['request', 'response', 'callback-request', 'callback-response'] as const
const KINDS = [
  'deprecated',
  'deprecated-with-sunset',
  'sunset-missing',
  'sunset-invalid',
  'sunset-moved-invalid',
  'sunset-too-small',
  'sunset-moved-too-small',
  'sunset-deleted',
  'reactivated',
] as const
const BODY = { action: [...CAME_OR_WENT, ...BEGAN], isRequired: EITHER }
const STATUS = { action: [...CAME_OR_WENT, 'narrowed'], of: ['default', 'success', 'other'] } as const
const ADDED_PARAMETER = { isRequired: EITHER, isInherited: EITHER, place: ['path', 'query', 'header', 'cookie'] }
const ACTION = { action: CAME_OR_WENT }
const BEGINNING = { action: BEGAN }

/** The values of the facts that rows decide by. A change that is not here does not compile. */
const FACTS: {
  readonly [Change in OpenApiChange]: {
    readonly [Fact in keyof OpenApiFacts[Change]]?: readonly OpenApiFacts[Change][Fact][]
  }
} = {
  admission: { action: ['tightened', 'scopes', 'loosened', 'withdrawn'] },
  'callback-added': {},
  'callback-address': {},
  'callback-body': BODY,
  'callback-header-added': { isRequired: EITHER },
  'callback-header-removed': { isRequired: EITHER },
  'callback-header-requiredness': BEGINNING,
  'callback-header-writing': {},
  'callback-parameter-added': ADDED_PARAMETER,
  'callback-parameter-content': {},
  'callback-parameter-empty': BEGINNING,
  'callback-parameter-moved': {},
  'callback-parameter-removed': { isRequired: EITHER, removal: REMOVALS },
  'callback-parameter-requiredness': BEGINNING,
  'callback-parameter-style': {},
  'callback-removed': {},
  'callback-response-status': STATUS,
  'callback-security': {},
  'component-schema-removed': {},
  'component-scheme-added': {},
  'component-scheme-changed': {
    part: ['type', 'url', 'tokenUrl', 'refreshUrl', 'deviceAuthorizationUrl', 'oauth2MetadataUrl', 'openIdConnectUrl'],
  },
  'component-scheme-flow': ACTION,
  'component-scheme-removed': {},
  'component-scope': { action: [...CAME_OR_WENT, 'changed'] },
  'dangling-reference': {},
  'global-scope': ACTION,
  'global-security': ACTION,
  'header-added': { isRequired: EITHER },
  'header-removed': { isRequired: EITHER },
  'header-requiredness': BEGINNING,
  'header-writing': {},
  link: { action: [...CAME_OR_WENT, 'changed'] },
  // Of what callers send it is reported what is refused and accepted, of what they read how it is named as well.
  'media-type': { of: PAYLOADS, action: CAME_OR_WENT },
  'media-type-encoding': { of: PAYLOADS },
  'media-type-schema': { of: PAYLOADS, action: CAME_OR_WENT },
  'operation-added': {},
  'operation-id': ACTION,
  'operation-lifecycle': { kind: KINDS },
  'operation-removed': { isWholePath: EITHER, removal: [...REMOVALS, 'after-sunset'] },
  'operation-scope': ACTION,
  'operation-security': ACTION,
  'operation-server': ACTION,
  'operation-stability': { step: ['invalid', 'decreased', 'increased'] },
  'operation-tag': ACTION,
  'malformed-part': {},
  'parameter-added': ADDED_PARAMETER,
  'parameter-content': {},
  'parameter-empty': BEGINNING,
  'parameter-lifecycle': { kind: KINDS },
  'parameter-moved': {},
  'parameter-removed': { isRequired: EITHER, removal: REMOVALS },
  'parameter-requiredness': BEGINNING,
  'parameter-style': {},
  'path-shadowed': {},
  'request-body': BODY,
  'response-status': STATUS,
  'schema-dialect': {},
  server: ACTION,
  'server-variable': { part: ['default', 'narrowed', 'widened'] },
  version: { step: ['same', 'decreased', 'minor'] },
  'webhook-added': {},
  'webhook-removed': {},
}

type Values = Readonly<Record<string, readonly unknown[]>>

function combinations(facts: Values): readonly Readonly<Record<string, unknown>>[] {
  return Object.entries(facts).reduce<readonly Readonly<Record<string, unknown>>[]>(
    (all, [name, values]) => all.flatMap((known) => values.map((value) => ({ ...known, [name]: value }))),
    [{}],
  )
}

suite('a change of an OpenAPI contract outside its schemas', () => {
  const changes = new Set(OPENAPI_ROWS.map(({ change }) => change))

  for (const change of changes) {
    test(`${change} is judged with any facts`, () => {
      const values: Values = { ...FACTS[change] }
      for (const facts of combinations(values)) {
        const isJudged = 'rule' in OPENAPI_JUDGE.rowOf({ change }, facts)
        assert.equal(
          isJudged,
          facts['removal'] !== 'after-sunset' || change !== 'operation-removed',
          JSON.stringify(facts),
        )
      }
    })
  }

  test('has a row, each of them', () => {
    assert.deepEqual(new Set(Object.keys(FACTS)), changes)
  })

  test('a media type of an answer is judged however its name moved', () => {
    for (const payload of ['response', 'callback-request'] as const)
      for (const action of ['generalized', 'specialized', 'changed', 'exchanged'] as const)
        assert.ok('rule' in OPENAPI_JUDGE.rowOf({ change: 'media-type' }, { of: payload, action }))
  })

  test('that no row is about is a fault, and never no change', () => {
    assert.throws(
      () => OPENAPI_JUDGE.rowOf({ change: 'media-type' }, { of: 'elsewhere', action: 'added' }),
      /no row for the change media-type/,
    )
    assert.throws(() => OPENAPI_JUDGE.rowOf({ change: 'operation-removed' }, { removal: 'misspelt' }), /no row/)
  })
})

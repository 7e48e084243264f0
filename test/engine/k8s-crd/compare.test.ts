/** Custom resource definitions: one or several in a text, both API versions, schemas with their extensions, faults with their place. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { dump, load } from 'js-yaml'
import { compare } from '../../../engine/formats/compare.ts'
import { sniffArtifactType } from '../../../engine/formats/sniff.ts'
import type { FindingGroup } from '../../../engine/model/finding.ts'
import type { Problem } from '../../../engine/common/result.ts'
import { sha256Hex } from '../../../gateway/runtime/hash.ts'
import { shuffledKeys } from '../../shuffle.ts'
import { readFileSync } from 'node:fs'

const BASE = readFileSync(new URL('base.yaml', import.meta.url), 'utf8')
const OTHER = BASE.replaceAll('widgets', 'gadgets').replaceAll('Widget', 'Gadget')

function run(before: string, after: string): readonly FindingGroup[] {
  const result = compare({ id: 'crd', type: 'k8s_crd', before, after }, {}, sha256Hex)
  assert.ok(result.ok, result.ok ? '' : result.problem.message)
  return result.value.groups
}

function found(before: string, after: string): readonly string[] {
  return run(before, after).map(({ level, rule }) => `${level} ${rule}`)
}

function refused(text: string): Problem {
  const result = compare({ id: 'crd', type: 'k8s_crd', before: '', after: text }, {}, sha256Hex)
  assert.ok(!result.ok)
  return result.problem
}

const inCluster = (text: string): string => text.replace('scope: Namespaced', 'scope: Cluster')

const inBothVersions = (text: string): string =>
  `${BASE.slice(0, BASE.indexOf('  versions:'))}  versions:\n${['v1', 'v2']
    .map((name) => `    - { name: ${name}, served: true, storage: ${name === 'v1'}, schema: ${text} }\n`)
    .join('')}`

suite('several definitions in one text', () => {
  const stream = `---\n${BASE}---\n${OTHER}`

  test('are matched by name, whatever their order and however they are held', () => {
    const list = JSON.stringify({ apiVersion: 'v1', kind: 'List', items: [load(OTHER), load(BASE)] })
    assert.deepEqual(found(stream, `${OTHER}---\n${BASE}`), [])
    assert.deepEqual(found(stream, list), [])
    assert.deepEqual(found(BASE, JSON.stringify(load(BASE))), [])
    assert.deepEqual(found(stream, BASE), ['breaking crd-removed'])
    assert.deepEqual(found(BASE, `${stream}---\n`), ['info crd-added'])
  })

  test('a change is placed in its document of the stream', () => {
    const [group] = run(stream, `---\n${inCluster(BASE)}---\n${OTHER}`)
    assert.deepEqual([group?.rule, group?.location, group?.line], ['crd-scope-changed', '/0/spec/scope', 7])
    const [later] = run(stream, `---\n${BASE}---\n${inCluster(OTHER)}`)
    assert.deepEqual([later?.rule, later?.location], ['crd-scope-changed', '/1/spec/scope'])
    assert.ok((later?.line ?? 0) > 40)
  })

  test('are recognised by their content', () => {
    for (const text of [stream, BASE, JSON.stringify(load(BASE))]) {
      assert.deepEqual(sniffArtifactType(text, ''), { ok: true, value: 'k8s_crd' })
    }
  })

  test('a stream with anything else in it is refused, so that nothing passes unseen', () => {
    const problem = refused(`${BASE}---\nkind: Pod\napiVersion: v1\n`)
    assert.match(problem.message, /it holds a Pod/)
    assert.deepEqual([problem.pointer, problem.line], ['/1', BASE.split('\n').length + 1])
  })
})

suite('schemas', () => {
  test('a property that went is lost in stored objects: breaking', () => {
    assert.deepEqual(found(BASE, BASE.replace('                colour: { type: string }\n', '')), [
      'breaking crd-optional-property-removed',
    ])
  })

  test('a property that came is information, and one that is required breaks', () => {
    const wider = BASE.replace(
      'colour: { type: string }',
      'colour: { type: string }\n                note: { type: string }',
    )
    assert.deepEqual(found(BASE, wider), ['info new-optional-crd-property'])
    const demanding = wider.replace(
      '              properties:\n                size',
      '              required: [note]\n              properties:\n                size',
    )
    assert.deepEqual(found(BASE, demanding), ['breaking new-required-crd-property'])
  })

  test('int-or-string is a list of types, with and without the alternatives that generators add', () => {
    const plain = BASE.replace('size: { type: integer }', 'size: { x-kubernetes-int-or-string: true }')
    const generated = BASE.replace(
      'size: { type: integer }',
      'size: { x-kubernetes-int-or-string: true, anyOf: [{ type: integer }, { type: string }] }',
    )
    assert.deepEqual(found(plain, generated), [])
    assert.deepEqual(found(BASE, plain), ['dangerous crd-property-type-generalized'])
    assert.deepEqual(found(plain, BASE), ['breaking crd-property-type-specialized'])
  })

  test('the same change in two versions is one change in two places', () => {
    const schema = '{ openAPIV3Schema: { type: object, properties: { a: { type: string } } } }'
    const [group, more] = run(inBothVersions(schema), inBothVersions(schema.replace('string', 'integer')))
    assert.equal(more, undefined)
    assert.deepEqual(
      group?.occurrences.map(({ message }) => message),
      [
        'the property `a` had its type changed from string to integer (widgets.example.com, version v1)',
        'the property `a` had its type changed from string to integer (widgets.example.com, version v2)',
      ],
    )
  })

  test('v1beta1 and v1 of the API say the same', () => {
    const base = `apiVersion: apiextensions.k8s.io/v1beta1
kind: CustomResourceDefinition
metadata: { name: a.example.com }
spec:
  group: example.com
  version: v1
  scope: Namespaced
  preserveUnknownFields: false
  names: { kind: A, plural: a }
  additionalPrinterColumns: [{ name: Size, type: integer, JSONPath: .spec.size }]
  subresources: { status: {} }
  validation: { openAPIV3Schema: { type: object, properties: { spec: { type: object } } } }
`
    const head = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: { name: a.example.com }
spec:
  group: example.com
  scope: Namespaced
  names: { kind: A, plural: a, singular: a, listKind: AList }
  versions:
    - name: v1
      served: true
      storage: true
      additionalPrinterColumns: [{ name: Size, type: integer, jsonPath: .spec.size }]
      subresources: { status: {} }
      schema: { openAPIV3Schema: { type: object, properties: { spec: { type: object } } } }
`
    assert.deepEqual(found(base, head), [])
  })
})

/** Two versions with schemas of their own; which is stored, and how objects become those of the other. */
function versions(stored: 'v1' | 'v2', before: string, after: string, conversion = 'None'): string {
  const list = [
    ['v1', before],
    ['v2', after],
  ].map(
    ([name, properties]) =>
      `    - { name: ${name}, served: true, storage: ${name === stored}, schema: { openAPIV3Schema: { type: object, properties: { ${properties} } } } }\n`,
  )
  const head = BASE.slice(0, BASE.indexOf('  versions:')).replace(/ {2}conversion:.*\n/, '')
  const webhook = 'webhook: { conversionReviewVersions: [v1], clientConfig: { url: "https://convert.example" } }'
  const how = conversion === 'None' ? '{ strategy: None }' : `{ strategy: Webhook, ${webhook} }`
  return `${head}  conversion: ${how}\n  versions:\n${list.join('')}`
}

test('unknown fields of all versions are kept or pruned together, as in v1beta1', () => {
  const keeping = BASE.replace('  scope: Namespaced\n', '  scope: Namespaced\n  preserveUnknownFields: true\n')
  assert.deepEqual(found(keeping, keeping.replace('Fields: true', 'Fields: false')), [
    'breaking crd-unknown-fields-pruned',
  ])
  assert.deepEqual(found(keeping, BASE), ['breaking crd-unknown-fields-pruned'])
  assert.deepEqual(found(BASE, keeping.replace('Fields: true', 'Fields: false')), [])
})

test('v1beta1 keeps unknown fields by default, v1 drops them', () => {
  const beta = BASE.replace('apiextensions.k8s.io/v1', 'apiextensions.k8s.io/v1beta1')
  assert.deepEqual(found(beta, BASE), ['breaking crd-unknown-fields-pruned'])
  assert.deepEqual(found(BASE, beta), ['dangerous crd-unknown-fields-preserved'])
  const dropping = beta.replace('  scope: Namespaced\n', '  scope: Namespaced\n  preserveUnknownFields: false\n')
  assert.deepEqual(found(dropping, BASE), [])
})

suite('the storage version', () => {
  const [two, one] = ['a: { type: string }, b: { type: string }', 'a: { type: string }']

  test('that moves reads the objects of the old one: what it does not know is lost', () => {
    const groups = run(versions('v1', two, one), versions('v2', two, one))
    assert.deepEqual(
      groups.map(({ level, rule }) => `${level} ${rule}`),
      ['breaking crd-optional-property-removed', 'dangerous crd-storage-version-changed'],
    )
    assert.match(groups[0]?.occurrences[0]?.message ?? '', /stored as v1 read as v2/)
  })

  test('that moves to a new version is compared with the version that was stored', () => {
    const before = versions('v1', two, one).replace(/ {4}- \{ name: v2.*\n/, '')
    assert.ok(found(before, versions('v2', two, one)).includes('breaking crd-optional-property-removed'))
  })

  test('that moves with a webhook is converted', () => {
    assert.deepEqual(found(versions('v1', two, one, 'Webhook'), versions('v2', two, one, 'Webhook')), [
      'dangerous crd-storage-version-changed',
    ])
  })

  test('that stays is compared with itself only', () => {
    assert.deepEqual(found(versions('v1', two, one), versions('v1', two, one)), [])
  })
})

suite('a version that is served from now on', () => {
  const TWO = 'a: { type: string }, b: { type: string }'
  const ROWS: readonly (readonly [what: string, stored: string, served: string, isReported: boolean])[] = [
    ['has the schema of the stored one', TWO, TWO, false],
    ['has it in another order', TWO, 'b: { type: string }, a: { type: string }', false],
    ['has it with a description', 'a: { type: string }', 'a: { type: string, description: An A. }', false],
    ['has one property more', 'a: { type: string }', TWO, true],
    ['has one property fewer', TWO, 'a: { type: string }', true],
    ['has another type', 'a: { type: string }', 'a: { type: integer }', true],
    ['takes fewer values', 'a: { type: string }', 'a: { type: string, enum: [x] }', true],
    [
      'keeps what the other one drops',
      'a: { type: object }',
      'a: { type: object, x-kubernetes-preserve-unknown-fields: true }',
      true,
    ],
    [
      'has another rule',
      'a: { type: integer }',
      'a: { type: integer, x-kubernetes-validations: [{ rule: self > 0 }] }',
      true,
    ],
  ]
  for (const [what, stored, served, isReported] of ROWS) {
    const expected = isReported ? ['dangerous crd-version-unconverted'] : []
    const both = versions('v1', stored, served)
    const without = both.replace(/ {4}- \{ name: v2.*\n/, '')
    const off = both.replace(/(name: v2, served: )true/, '$1false')
    test(`and ${what}`, () => {
      assert.deepEqual(found(without, both).toSorted(), [...expected, 'info crd-version-added'])
      assert.deepEqual(found(off, both).toSorted(), [...expected, 'info crd-version-served'])
      assert.deepEqual(found(without, off), ['info crd-version-added'])
    })
  }

  test('is converted by a webhook', () => {
    const both = versions('v1', TWO, 'a: { type: string }', 'Webhook')
    assert.deepEqual(found(both.replace(/ {4}- \{ name: v2.*\n/, ''), both), ['info crd-version-added'])
  })
})

suite('what is refused', () => {
  for (const [what, text, says] of [
    ['no metadata.name', BASE.replace('{ name: widgets.example.com }', '{}'), /no metadata.name/],
    ['no spec', BASE.slice(0, BASE.indexOf('spec:')), /has no spec/],
    ['no version', BASE.slice(0, BASE.indexOf('  versions:')), /names no version/],
    ['a version without a name', BASE.replace('name: v1beta1', 'nom: v1beta1'), /a version has no name/],
    ['a version that is there twice', BASE.replace('name: v1beta1', 'name: v1'), /version v1 is there twice/],
    [
      'another version of the API',
      BASE.replace(/apiVersion: .*/, 'apiVersion: apiextensions.k8s.io/v2'),
      /v2, where .*v1 and .*v1beta1 are/,
    ],
    ['a definition that is there twice', `${BASE}---\n${BASE}`, /two definitions of the name "widgets.example.com"/],
  ] as const) {
    test(`${what}, with its place`, () => {
      const problem = refused(text)
      assert.match(problem.message, /^The head document cannot be read as a CustomResourceDefinition: /)
      assert.match(problem.message, says)
      assert.ok((problem.line ?? 0) > 0 && (problem.column ?? 0) > 0)
    })
  }

  test('text that is not YAML, with line and column, in a stream too', () => {
    const problem = refused(`${BASE}---\nkind: [1\n`)
    assert.equal(problem.code, 'ARTIFACT_UNREADABLE')
    assert.ok((problem.line ?? 0) > 40)
  })

  test('another kind of contract, by its name', () => {
    assert.equal(refused('openapi: 3.0.3\npaths: {}\n').code, 'ARTIFACT_TYPE_MISMATCH')
  })
})

test('the order of members means nothing', () => {
  const after = BASE.replace('self.size > 1', 'self.size > 2')
    .replace('scope: Namespaced', 'scope: Cluster')
    .replace('size: { type: integer }', 'size: { type: string }')
  const want = run(BASE, after).map(({ id, message }) => ({ id, message }))
  assert.equal(want.length, 4)
  for (let seed = 1; seed < 9; seed += 1) {
    const [base, head] = [dump(shuffledKeys(load(BASE), seed)), dump(shuffledKeys(load(after), seed + 20))]
    assert.deepEqual(
      run(base, head).map(({ id, message }) => ({ id, message })),
      want,
    )
  }
})

const withFormat = (format: string | null): string =>
  inBothVersions(
    JSON.stringify({
      openAPIV3Schema: {
        type: 'object',
        properties: { format: { type: 'string', ...(format === null ? {} : { format }) } },
      },
    }),
  )

suite('formats', () => {
  test('that no API server knows are ignored', () => {
    for (const [before, after] of [
      [null, 'phone'],
      ['phone', null],
      ['phone', 'int-or-string'],
    ] as const)
      assert.deepEqual(found(withFormat(before), withFormat(after)), [])
  })

  for (const [one, other] of [
    ['date-time', 'datetime'],
    ['uuid4', 'uuid-4'],
    ['hex-color', 'hexcolor'],
    ['k8s-short-name', 'k8sshortname'],
  ] as const)
    test(`that differ in hyphens are one: ${one}`, () => {
      assert.deepEqual([...found(withFormat(one), withFormat(other)), ...found(withFormat(other), withFormat(one))], [])
    })

  test('that API servers check count', () => {
    for (const format of ['uuid', 'date-time', 'datetime', 'ipv4', 'k8s-short-name'])
      assert.ok(
        found(withFormat('phone'), withFormat(format)).some((rule) => rule.startsWith('breaking')),
        format,
      )
  })
})

const counted = (isRequired: boolean, hasDefault: boolean): object => ({
  type: 'object',
  ...(isRequired && { required: ['a'] }),
  properties: { a: { type: 'integer', ...(hasDefault && { default: 1 }) } },
})

suite('a default', () => {
  const places: readonly [place: string, schema: (part: object) => object][] = [
    ['the object', (part) => part],
    ['a property', (part) => ({ type: 'object', properties: { p: part } })],
    ['items', (part) => ({ type: 'object', properties: { p: { type: 'array', items: part } } })],
    ['a map', (part) => ({ type: 'object', properties: { p: { type: 'object', additionalProperties: part } } })],
  ]
  for (const [place, schema] of places) {
    const written = (isRequired: boolean, hasDefault: boolean): string =>
      inBothVersions(JSON.stringify({ openAPIV3Schema: schema(counted(isRequired, hasDefault)) }))
    const isBreaking = (before: string, after: string): boolean =>
      found(before, after).some((rule) => rule.startsWith('breaking'))

    test(`satisfies that a property is required, so its removal breaks only with that: ${place}`, () => {
      assert.ok(isBreaking(written(true, true), written(true, false)))
      assert.ok(!isBreaking(written(true, false), written(true, true)))
      assert.ok(!isBreaking(written(false, true), written(false, false)))
      assert.ok(!isBreaking(written(true, true), written(false, false)))
    })
  }
})

const OBJECT = { type: 'object', properties: { a: { type: 'string' } } }
const rule = (text: string): object => ({ 'x-kubernetes-validations': [{ rule: text }] })

const specOf = (more: object): string =>
  inBothVersions(JSON.stringify({ openAPIV3Schema: { type: 'object', properties: { spec: { ...OBJECT, ...more } } } }))

suite('rules within combinators', () => {
  const [a, b] = [{ required: ['a'] }, { properties: { a: { minLength: 1 } } }]
  const ruled = { ...a, ...rule('x') }
  const PLACES: Readonly<Record<string, readonly [without: object, within: object]>> = {
    'all of them': [{ allOf: [{}] }, { allOf: [rule('x')] }],
    'a member of all of them': [{ allOf: [{}] }, { allOf: [{ properties: { a: rule('x') } }] }],
    'one of several': [{ anyOf: [a, b] }, { anyOf: [ruled, b] }],
    'a second one': [{ oneOf: [ruled, b] }, { oneOf: [ruled, { ...b, ...rule('x') }] }],
    'what is excluded': [{ not: a }, { not: ruled }],
  }
  for (const [place, [without, within]] of Object.entries(PLACES))
    test(place, () => {
      assert.ok(found(specOf(without), specOf(within)).includes('breaking crd-validation-rule-added'))
      assert.ok(found(specOf(within), specOf(without)).includes('dangerous crd-validation-rule-removed'))
    })

  test('their order, and where a rule on the whole object is written, mean nothing', () => {
    const other = { ...b, ...rule('y') }
    assert.deepEqual(found(specOf({ anyOf: [ruled, other] }), specOf({ anyOf: [other, ruled] })), [])
    assert.deepEqual(found(specOf(rule('x')), specOf({ allOf: [rule('x')] })), [])
  })
})

test('a subresource that is null is absent', () => {
  const [none, absent] = ['{ status: null, scale: null }', '{}'].map((subresources) =>
    inBothVersions(`{ openAPIV3Schema: { type: object } }, subresources: ${subresources}`),
  )
  assert.deepEqual(found(none ?? '', absent ?? ''), [])
})

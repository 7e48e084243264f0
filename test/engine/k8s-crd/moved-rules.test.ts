/** A validation rule on a property, and the same rule on the object around it. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { alarmsOf } from '../elements.ts'

const rule = (text: string): object => ({ 'x-kubernetes-validations': [{ rule: text }] })

/** A definition whose objects have this schema. */
const specOf = (more: object): unknown => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'things.example.com' },
  spec: {
    group: 'example.com',
    names: { kind: 'Thing', plural: 'things' },
    scope: 'Namespaced',
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: 'object', properties: { spec: { type: 'object', ...more } } } },
      },
    ],
  },
})

const alarmsBetween = (before: unknown, after: unknown): readonly string[] => {
  const found = alarmsOf('k8s_crd', before, after).map((group) => `${group.level} ${group.rule}`)
  return [...new Set(found.filter((line) => line.includes('crd-validation-rule')))].toSorted()
}

const around = (property: object, more: object = {}, whole: object = {}): unknown =>
  specOf({ properties: { a: { type: 'integer', ...property, ...more } }, ...whole })
const twice = (deepest: object, whole: object): unknown =>
  specOf({
    required: ['a'],
    properties: { a: { type: 'object', properties: { b: { type: 'integer', ...deepest } } } },
    ...whole,
  })

suite('a rule that moves between a property and the object around it', () => {
  const NONE: readonly string[] = []
  const ADDED = ['breaking crd-validation-rule-added']
  const REMOVED = ['dangerous crd-validation-rule-removed']
  const REQUIRED = { required: ['a'] }
  for (const [what, one, other, forth, back] of [
    [
      'where the property is required',
      around(rule('self > 0'), {}, REQUIRED),
      around({}, {}, { ...REQUIRED, ...rule('self.a > 0') }),
      NONE,
      NONE,
    ],
    ['where it is asked for', around(rule('self > 0')), around({}, {}, rule('!has(self.a) || self.a > 0')), NONE, NONE],
    [
      'as one of several conditions',
      around(rule('self > 0 && self < 9'), {}, REQUIRED),
      around(rule('self > 0'), {}, { ...REQUIRED, ...rule('self.a < 9') }),
      NONE,
      NONE,
    ],
    [
      'with several conditions behind one question',
      around(rule('self > 0 && self < 9')),
      around({}, {}, rule('!has(self.a) || self.a > 0 && self.a < 9')),
      NONE,
      NONE,
    ],
    ['over two levels', twice(rule('self > 0'), {}), twice({}, rule('!has(self.a.b) || self.a.b > 0')), NONE, NONE],
    // An expression that reads what is missing fails, and the object is refused.
    ['where the property may be missing', around(rule('self > 0')), around({}, {}, rule('self.a > 0')), ADDED, REMOVED],
    [
      'where the property may be null',
      around(rule('self > 0'), { nullable: true }, REQUIRED),
      around({}, { nullable: true }, { ...REQUIRED, ...rule('self.a > 0') }),
      ADDED,
      REMOVED,
    ],
    [
      'and becomes stricter',
      around(rule('self > 0'), {}, REQUIRED),
      around({}, {}, { ...REQUIRED, ...rule('self.a > 1') }),
      [...ADDED, ...REMOVED],
      [...ADDED, ...REMOVED],
    ],
    [
      'and is a choice then',
      around(rule('self > 0')),
      around({}, {}, rule('!has(self.a) || self.a > 0 ? true : false')),
      [...ADDED, ...REMOVED],
      [...ADDED, ...REMOVED],
    ],
    [
      'and is about another property then',
      around(rule('self > 0'), {}, REQUIRED),
      specOf({
        ...REQUIRED,
        properties: { a: { type: 'integer' }, b: { type: 'integer' } },
        ...rule('self.b > 0'),
      }),
      ['breaking crd-validation-rule-added', 'dangerous crd-validation-rule-removed'],
      null,
    ],
    [
      'and compares with the value before',
      around(rule('self >= oldSelf'), {}, REQUIRED),
      around({}, {}, { ...REQUIRED, ...rule('self.a >= oldSelf.a') }),
      [...ADDED, ...REMOVED],
      [...ADDED, ...REMOVED],
    ],
  ] as const)
    test(what, () => {
      assert.deepEqual(alarmsBetween(one, other), forth)
      if (back !== null) assert.deepEqual(alarmsBetween(other, one), back)
    })
})

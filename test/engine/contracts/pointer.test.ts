/** JSON Pointers and references within a document: what they name, and the result for those that name nothing. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { array, assert as assertProperty, property, string } from 'fast-check'
import {
  composePointer,
  localRefPointer,
  parsePointer,
  resolvePointer,
  resolveRef,
} from '../../../engine/contracts/pointer.ts'
import { appendPointer } from '../../../engine/common/json-pointer.ts'

suite('pointers', () => {
  test('any names survive composing and parsing', () => {
    assertProperty(
      property(array(string({ unit: 'grapheme' })), (tokens) => {
        assert.deepEqual(parsePointer(composePointer(tokens)), tokens)
      }),
    )
  })

  test('the examples of RFC 6901 §5 name what the RFC says', () => {
    const root: unknown = JSON.parse(
      '{"foo":["bar","baz"],"":0,"a/b":1,"c%d":2,"e^f":3,"g|h":4,"i\\\\j":5,"k\\"l":6," ":7,"m~n":8}',
    )
    const named: readonly [string, unknown][] = [
      ['', root],
      ['/foo/0', 'bar'],
      ['/', 0],
      ['/a~1b', 1],
      ['/c%d', 2],
      ['/k"l', 6],
      ['/ ', 7],
      ['/m~0n', 8],
    ]
    for (const [pointer, value] of named) {
      assert.deepEqual(resolvePointer(root, pointer), { found: true, value }, pointer)
    }
  })

  test('what is not a pointer, or leads past the document, names nothing', () => {
    const root = { list: ['a'], text: 'abc' }
    for (const pointer of [
      'list',
      '/list/1',
      '/list/01',
      '/list/-',
      '/list/length',
      '/text/0',
      '/text/length',
      '/~2',
      '/toString',
      '/__proto__',
    ]) {
      assert.deepEqual(resolvePointer(root, pointer), { found: false }, pointer)
    }
  })

  test('an index is a token like any other', () => {
    assert.equal(appendPointer(appendPointer('', 'a/b~c'), 3), '/a~1b~0c/3')
  })
})

suite('references', () => {
  const root = {
    defs: { pet: { type: 'object' }, 'a b/c%d': { type: 'string' } },
    chain: { $ref: '#/link' },
    link: { $ref: '#/defs/pet' },
    loop: { $ref: '#/pool' },
    pool: { $ref: '#/loop' },
    self: { $ref: '#/self' },
    broken: { $ref: '#/defs/none' },
    properties: { $ref: { type: 'string' } },
  }

  test('a chain of references leads to the first value that is none', () => {
    assert.deepEqual(resolveRef(root, '#/chain'), { kind: 'resolved', value: { type: 'object' }, pointer: '/defs/pet' })
  })

  test('fragments are percent-decoded, and a stray percent sign is meant as it stands', () => {
    const expected = { kind: 'resolved', value: { type: 'string' }, pointer: '/defs/a b~1c%d' }
    assert.deepEqual(resolveRef(root, '#/defs/a%20b~1c%25d'), expected)
    assert.deepEqual(resolveRef(root, '#/defs/a b~1c%d'), expected)
  })

  test('circles and dangling references are answers, not errors', () => {
    assert.deepEqual(resolveRef(root, '#/loop').kind, 'circular')
    assert.deepEqual(resolveRef(root, '#/self').kind, 'circular')
    assert.deepEqual(resolveRef(root, '#/broken'), { kind: 'dangling', ref: '#/defs/none' })
    assert.deepEqual(resolveRef(root, 'other.yaml#/a'), { kind: 'dangling', ref: 'other.yaml#/a' })
  })

  test('a property that is called $ref is not a reference', () => {
    assert.deepEqual(resolveRef(root, '#/properties').kind, 'resolved')
  })

  test('the document itself is named by an empty fragment', () => {
    assert.equal(localRefPointer('#'), '')
    assert.equal(localRefPointer('#anchor'), null)
  })
})

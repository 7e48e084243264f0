/** Reading of contract texts: what is read, what is refused, and how the refusal helps. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { readDocument } from '../../../engine/contracts/document.ts'
import { DEFAULT_DOCUMENT_LIMITS } from '../../../engine/model/limits.ts'
import type { Problem } from '../../../engine/common/result.ts'
import { at } from '../../json.ts'

function rootOf(text: string): unknown {
  const read = readDocument(text, DEFAULT_DOCUMENT_LIMITS)
  assert.ok(read.ok, read.ok ? '' : read.problem.message)
  return read.value.root
}

function problemOf(text: string, limits = DEFAULT_DOCUMENT_LIMITS): Problem {
  const read = readDocument(text, limits)
  assert.ok(!read.ok, 'the document is read although it must be refused')
  return read.problem
}

function assertRefused(text: string, expected: Partial<Problem>, message: RegExp): void {
  const problem = problemOf(text)
  assert.deepEqual({ ...problem, ...expected }, problem)
  assert.match(problem.message, message)
}

suite('what is read', () => {
  test('JSON and YAML of the same content give the same values', () => {
    assert.deepEqual(rootOf('{"a":[1,"x",null,true]}'), rootOf('a:\n  - 1\n  - x\n  - ~\n  - true\n'))
  })

  test('a byte order mark is not a part of the document', () => {
    assert.deepEqual(rootOf('\uFEFF{"a":1}'), { a: 1 })
    assert.deepEqual(rootOf('\uFEFFa: 1\n'), { a: 1 })
  })

  test('YAML keys become texts and dates stay texts', () => {
    const root = rootOf('200: ok\ntrue: yes\n2020-01-01: day\nat: 2020-01-01T00:00:00Z\n')
    assert.deepEqual(root, { '200': 'ok', true: 'yes', '2020-01-01': 'day', at: '2020-01-01T00:00:00Z' })
  })

  test('a YAML flow mapping with bare keys is YAML, not broken JSON', () => {
    assert.deepEqual(rootOf("{openapi: 3.1.0, info: {title: 'x'}}"), { openapi: '3.1.0', info: { title: 'x' } })
  })

  test('merge keys are honoured and may be overridden', () => {
    const root = rootOf('base: &b {x: 1, y: 1}\nmine:\n  <<: *b\n  y: 2\n')
    assert.deepEqual(root, { base: { x: 1, y: 1 }, mine: { x: 1, y: 2 } })
  })

  test('aliases stay shared references', () => {
    const root = rootOf('a: &a [1]\nb: *a\n')
    assert.equal(at(root, 'a'), at(root, 'b'))
  })

  for (const text of [
    '{"__proto__":{"polluted":1},"constructor":2}',
    '__proto__:\n  polluted: 1\nconstructor: 2\n',
    'base: &b\n  __proto__: {polluted: 1}\n<<: *b\n',
  ]) {
    test(`keys of the prototype are plain data and pollute nothing: ${text.slice(0, 12).trim()}`, () => {
      const root = rootOf(text)
      assert.ok(Object.hasOwn(Object(root), '__proto__'))
      assert.equal(Object.getPrototypeOf(root), Object.prototype)
      assert.equal(Reflect.get({}, 'polluted'), undefined)
    })
  }

  test('separators at the end, after which nothing comes, end the document', () => {
    assert.deepEqual(rootOf('---\na: 1\n---\n# no more\n---\n'), { a: 1 })
    assertRefused('---\n---\na: 1\n', { code: 'ARTIFACT_UNREADABLE' }, /2 YAML documents/)
    assertRefused('a: 1\n---\nnull\n', { code: 'ARTIFACT_UNREADABLE' }, /2 YAML documents/)
  })

  test('a lone value is read only where JSON says the same', () => {
    assert.equal(rootOf('true'), true)
    assert.equal(problemOf('just prose').code, 'ARTIFACT_UNREADABLE')
  })
})

suite('what is refused', () => {
  test('blank texts and several documents', () => {
    assertRefused(' \n\t', { code: 'ARTIFACT_UNREADABLE' }, /blank/)
    assertRefused('# only a comment\n', { code: 'ARTIFACT_UNREADABLE' }, /only comments/)
    assertRefused('a: 1\n---\nb: 2\n', { code: 'ARTIFACT_UNREADABLE' }, /2 YAML documents/)
  })

  test('duplicate keys, with both places in JSON', () => {
    assertRefused(
      '{\n "a": 1,\n "b": {"x":1},\n "a": 2}',
      { line: 4, column: 2 },
      /"a" is written twice, first at line 2, column 2/,
    )
    assertRefused('{"a":1,"\\u0061":2}', { line: 1, column: 8 }, /"a" is written twice/)
    assertRefused('x:\n  a: 1\n  a: 2\n', { line: 3, column: 3 }, /duplicated mapping key/)
    assertRefused('200: a\n"200": b\n', { line: 2 }, /duplicated mapping key/)
    assertRefused('z:\n  a: {\n  "b": 1,\n  "b": 2}\n', { line: 4, column: 4 }, /duplicated mapping key/)
  })

  test('what JSON readers refuse and YAML readers accept', () => {
    assertRefused('[1,]', { line: 1, column: 4 }, /instead of a value/)
    assertRefused('{"a":1,}', { line: 1, column: 8 }, /member name in double quotes/)
    assertRefused('{"a" 1}', { column: 6 }, /colon/)
    assertRefused('{"a":1', { column: 7 }, /text ends where \}/)
    assertRefused('{"a":"x\ny"}', { column: 6 }, /not closed/)
    assertRefused('{"a":01}', { column: 6 }, /instead of a value/)
  })

  test('numbers without a JSON form', () => {
    assertRefused('{"a":[1,1e999]}', { pointer: '/a/1', line: 1, column: 9 }, /infinite/)
    assertRefused('a:\n  b: .nan\n', { pointer: '/a/b', line: 2, column: 3 }, /NaN/)
    assertRefused('a: -.inf\n', { pointer: '/a' }, /infinite/)
  })

  test('half surrogate pairs in values and in keys', () => {
    assertRefused('{"a":"\\ud800"}', { pointer: '/a' }, /surrogate/)
    assertRefused('{"b":{"\\udc00":1}}', { pointer: '/b' }, /surrogate/)
    assertRefused('{"a":"\uD800"}', { pointer: '/a' }, /surrogate/)
    assertRefused('a: "\\ud800"\n', { pointer: '/a' }, /surrogate/)
    assertRefused('a: "\\U00110000"\n', { pointer: '/a' }, /surrogate/)
    assert.deepEqual(rootOf('{"a":"\\ud83d\\ude00"}'), { a: '😀' })
  })

  test('tags, tabs, unknown aliases and anchors that hold themselves', () => {
    assertRefused('a: !!js/function x\n', { line: 1 }, /remove the tag/)
    assertRefused('a:\n\tb: 1\n', { line: 2 }, /Indent with spaces/)
    assertRefused('a: *nowhere\n', { line: 1 }, /Define the anchor/)
    assertRefused('a: &a\n  b:\n    c: *a\n', { pointer: '/a/b/c', line: 3, column: 5 }, /inside its own anchor/)
  })

  test('a document marker within a text is not taken for the text', () => {
    assertRefused('a: "one\n--- two"\n', { line: 2 }, /not valid YAML/)
  })
})

suite('limits', () => {
  test('length', () => {
    const limits = { ...DEFAULT_DOCUMENT_LIMITS, maxLength: 10 }
    assert.equal(problemOf('{"a":12345}', limits).code, 'ARTIFACT_OVER_LIMIT')
    assert.ok(readDocument('{"a":1234}', limits).ok)
  })

  const nestings: readonly [string, (depth: number) => string][] = [
    ['JSON arrays', (depth) => '['.repeat(depth) + ']'.repeat(depth)],
    ['JSON objects', (depth) => '{"a":'.repeat(depth - 1) + '{}' + '}'.repeat(depth - 1)],
    ['YAML block lists', (depth) => `${'- '.repeat(depth)}1`],
    ['YAML flow mappings', (depth) => `${'{a: '.repeat(depth)}1${'}'.repeat(depth)}`],
  ]
  for (const [form, nest] of nestings) {
    test(`128 levels of ${form} are read; 129, ten thousand and a million are refused without a crash`, () => {
      assert.ok(readDocument(nest(128), DEFAULT_DOCUMENT_LIMITS).ok)
      for (const depth of [129, 10_000, 1_000_000]) assert.equal(problemOf(nest(depth)).code, 'ARTIFACT_OVER_LIMIT')
    })
  }

  test('depth counts what aliases stand for, whatever the order of the keys', () => {
    const lines = ['900: &a0 [[[[[[[[[[1]]]]]]]]]]']
    for (let step = 1; step < 20; step++) lines.push(`${900 - step}: &a${step} [[[[[[[[[[*a${step - 1}]]]]]]]]]]`)
    assertRefused(lines.join('\n'), { code: 'ARTIFACT_OVER_LIMIT' }, /deeper than 128/)
  })

  test('an alias bomb is refused by arithmetic', () => {
    const lines = ['a0: &a0 [x,x,x,x,x,x,x,x,x,x]']
    for (let step = 1; step < 40; step++) {
      lines.push(
        `a${step}: &a${step} [${Array<string>(10)
          .fill(`*a${step - 1}`)
          .join(',')}]`,
      )
    }
    assertRefused(lines.join('\n'), { code: 'ARTIFACT_OVER_LIMIT' }, /as large, more than 20 times/)
  })

  test('more than a thousand aliases are refused, a thousand are read', () => {
    const text = `a: &a 1\nb:\n${'  - *a\n'.repeat(1000)}`
    assert.ok(readDocument(text, DEFAULT_DOCUMENT_LIMITS).ok)
    assertRefused(`${text}  - *a\n`, { code: 'ARTIFACT_OVER_LIMIT' }, /more than 1000 aliases/)
  })
})

suite('positions', () => {
  const YAML = 'paths:\n  "/a/b":\n    get:\n      tags: [x,\n        y]\nshared: &s\n  deep: 1\nalias: *s\n'

  const places: readonly [string, number, number][] = [
    ['', 1, 1],
    ['/paths', 1, 1],
    ['/paths/~1a~1b/get', 3, 5],
    ['/paths/~1a~1b/get/tags/1', 5, 9],
    ['/alias/deep', 7, 3],
    ['/paths/missing/below', 1, 1],
  ]
  for (const [pointer, line, column] of places) {
    test(`YAML ${pointer || 'root'} is at ${line}:${column}`, () => {
      const read = readDocument(YAML, DEFAULT_DOCUMENT_LIMITS)
      assert.ok(read.ok)
      assert.deepEqual(read.value.locate(pointer), { line, column })
    })
  }

  test('JSON members are placed at their key, items at their value, across strings that look like structure', () => {
    const read = readDocument('{"t": "}],\\"{",\r\n "a\\u002fb": [1,\n  {"k": null}]}', DEFAULT_DOCUMENT_LIMITS)
    assert.ok(read.ok)
    assert.deepEqual(read.value.locate('/a~1b'), { line: 2, column: 2 })
    assert.deepEqual(read.value.locate('/a~1b/1/k'), { line: 3, column: 4 })
    assert.deepEqual(read.value.locate('/t/none'), { line: 1, column: 2 })
    assert.equal(read.value.locate('no-pointer'), null)
  })

  test('lines that were indented for the parser keep the columns of the text', () => {
    const read = readDocument('a:\n  b: {\n  "x": 1, "y": 2\n  }\n  z: 3\n', DEFAULT_DOCUMENT_LIMITS)
    assert.ok(read.ok)
    assert.deepEqual(read.value.locate('/a/b/y'), { line: 3, column: 12 })
    assert.deepEqual(read.value.locate('/a/z'), { line: 5, column: 3 })
  })
})

suite('line breaks that only some readers of YAML know', () => {
  for (const letter of ['\u0085', '\u2028', '\u2029']) {
    const name = `U+${letter.charCodeAt(0).toString(16).padStart(4, '0').toUpperCase()}`
    test(`${name} behind which other readers see another member is refused`, () => {
      for (const text of [`a: 1\n# x${letter}b: 2\n`, `a: |\n  x${letter}b: 2\n`, `a: x #${letter}---${letter}b: 2\n`])
        assertRefused(text, {}, /YAML 1\.1 has and YAML 1\.2 has not/)
    })

    test(`${name} within a text is a blank to them, and stays what it is`, () => {
      assert.deepEqual(rootOf(`a: "x${letter}y"\n`), { a: `x${letter}y` })
      assert.deepEqual(rootOf(`a: |\n  x${letter}  y\n`), { a: `x${letter}  y\n` })
      assert.deepEqual(rootOf(`{"a":"x${letter}y"}`), { a: `x${letter}y` })
    })
  }
})

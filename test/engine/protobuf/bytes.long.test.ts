/**
 * Messages at random, with one edit each. Bytes that protobufjs writes by one side and reads otherwise by the other are
 * a proof: a breaking or dangerous change must be reported. A file that is only written otherwise has no change.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import protobuf from 'protobufjs'
import { generator } from '../../shuffle.ts'
import { comparedProtobuf } from './contracts.ts'

const PAIRS = Number(process.env['PAIRS'] ?? 400)
const SEED = Number(process.env['SEED'] ?? 1)

const TYPES = ['int32', 'uint32', 'sint32', 'int64', 'uint64', 'sint64', 'fixed32', 'sfixed32', 'fixed64', 'sfixed64']
const OTHERS = ['bool', 'float', 'double', 'string', 'bytes', 'E', 'N', 'O']

interface PlannedField {
  readonly number: number
  readonly name: string
  readonly type: string
  readonly label: '' | 'optional ' | 'repeated '
  /** Fields of one oneof have one of its names. */
  readonly oneof: '' | 'o' | 'q'
}

type Dice = (below: number) => number

function diceOf(seed: number): Dice {
  const next = generator(seed)
  return (below) => Math.floor((next() / 2 ** 32) * below)
}

function pick<T>(list: readonly T[], dice: Dice): T {
  const found = list[dice(list.length)]
  assert.ok(found !== undefined)
  return found
}

function fieldAt(number: number, dice: Dice): PlannedField {
  const label = pick(['', '', 'optional ', 'repeated '] as const, dice)
  const oneof = label === '' ? pick(['', 'o', 'q'] as const, dice) : ''
  return { number, name: `f${number}`, type: pick([...TYPES, ...OTHERS], dice), label, oneof }
}

function fileOf(
  fields: readonly PlannedField[],
  order: (lines: readonly string[]) => readonly string[] = (l) => l,
): string {
  const line = ({ label, type, name, number }: PlannedField): string => `${label}${type} ${name} = ${number};`
  const groups = (['o', 'q'] as const).flatMap((oneof) => {
    const own = fields.filter((field) => field.oneof === oneof).map(line)
    return own.length === 0 ? [] : [`oneof ${oneof} { ${order(own).join(' ')} }`]
  })
  const plain = fields.filter(({ oneof }) => oneof === '').map(line)
  return `syntax = "proto3"; package p;\n${order([
    `message M { ${order([...plain, ...groups]).join(' ')} }`,
    'message N { int32 n = 1; }',
    'message O { string n = 1; }',
    'enum E { ZERO = 0; ONE = 1; TWO = 2; }',
  ]).join('\n')}\n`
}

function edited(fields: readonly PlannedField[], dice: Dice): readonly PlannedField[] {
  const at = dice(fields.length)
  const change = (more: (field: PlannedField) => Partial<PlannedField>): readonly PlannedField[] =>
    fields.map((field, index) => (index === at ? { ...field, ...more(field) } : field))
  return pick(
    [
      () => change(() => ({ type: pick([...TYPES, ...OTHERS], dice) })),
      () => change(() => ({ type: pick(TYPES, dice) })),
      () => change(({ label }) => ({ label: label === '' ? 'repeated ' : '', oneof: '' })),
      () => change(({ label }) => ({ label: label === '' ? 'optional ' : '', oneof: '' })),
      () => change(({ oneof }) => ({ label: '', oneof: oneof === '' ? 'o' : oneof === 'o' ? 'q' : '' })),
      () => change(() => ({ number: 20 })),
      () => change(() => ({ name: 'renamed' })),
      () => fields.filter((_, index) => index !== at),
      () => [...fields, fieldAt(15, dice)],
      () => fields.map((field) => (field.oneof === 'o' ? { ...field, oneof: 'q' as const } : field)),
    ],
    dice,
  )()
}

const VALUES: Readonly<Record<string, readonly unknown[]>> = {
  bool: [true],
  float: [1.5, -2],
  double: [1.5, -2],
  string: ['', 'text', '\u00e9'],
  bytes: [Buffer.from([1, 255]), Buffer.from([200])],
  E: [1, 2],
  N: [{ n: 1 }, {}],
  O: [{ n: 'x' }],
}

function valueOf(type: string, dice: Dice): unknown {
  const numbers = type.startsWith('u') || type.startsWith('fixed') ? [1, 300, 2 ** 31] : [1, -1, 300]
  return pick(VALUES[type] ?? numbers, dice)
}

function messageOf(fields: readonly PlannedField[], dice: Dice): Record<string, unknown> {
  const chosen = new Map<string, PlannedField>()
  for (const field of fields) if (dice(3) > 0) chosen.set(field.oneof === '' ? field.name : field.oneof, field)
  return Object.fromEntries(
    [...chosen.values()].map(({ name, type, label }) => [
      name,
      label === 'repeated ' ? [valueOf(type, dice), valueOf(type, dice)] : valueOf(type, dice),
    ]),
  )
}

function typeIn(text: string): protobuf.Type {
  return protobuf.parse(text, { keepCase: true }).root.lookupType('p.M')
}

/** The values that a reader sees, by number. Null if it cannot read the bytes. */
function read(type: protobuf.Type, bytes: Uint8Array): ReadonlyMap<number, string> | null {
  try {
    const values: Record<string, unknown> = type.toObject(type.decode(bytes), {
      longs: String,
      bytes: String,
      enums: Number,
    })
    return new Map(type.fieldsArray.map(({ id, name }) => [id, JSON.stringify(values[name] ?? null)]))
  } catch {
    return null
  }
}

test('bytes that the other side reads otherwise have a change that is not information', (t) => {
  const counts = { pairs: 0, proofs: 0 }
  for (let index = 0; index < PAIRS; index += 1) {
    const dice = diceOf(SEED * 100_003 + index)
    const fields = [1, 2, 3, 4, 5].map((number) => fieldAt(number, dice))
    const after = edited(fields, dice)
    const texts = [fields, after].map((list) => fileOf(list))
    const [base = '', head = ''] = texts
    const levels = comparedProtobuf(base, head).groups.map(({ level }) => level)
    counts.pairs += 1
    const types = texts.map(typeIn)
    for (const [writer, own, reader] of [
      [types[0], fields, types[1]],
      [types[1], after, types[0]],
    ] as const) {
      assert.ok(writer !== undefined && reader !== undefined)
      for (let count = 0; count < 10; count += 1) {
        const bytes = writer.encode(writer.fromObject(messageOf(own, dice))).finish()
        const [written, seen] = [read(writer, bytes), read(reader, bytes)]
        assert.ok(written !== null)
        const isMisread = seen === null || [...seen].some(([id, value]) => (written.get(id) ?? value) !== value)
        if (!isMisread) continue
        counts.proofs += 1
        assert.ok(
          levels.some((level) => level !== 'info'),
          `${base}\n---\n${head}\n${JSON.stringify([...(seen ?? [])])} for ${JSON.stringify([...written])}`,
        )
      }
    }
  }
  t.diagnostic(JSON.stringify(counts))
  assert.ok(counts.proofs > PAIRS / 4, JSON.stringify(counts))
})

test('a file that is only written otherwise has no change', () => {
  for (let index = 0; index < PAIRS / 4; index += 1) {
    const dice = diceOf(SEED * 7_919 + index)
    const fields = [1, 2, 3, 4, 5].map((number) => fieldAt(number, dice))
    const order = (lines: readonly string[]): readonly string[] =>
      lines
        .map((line) => ({ line, key: dice(1000) }))
        .toSorted((a, b) => a.key - b.key)
        .map(({ line }) => line)
    const text = fileOf(fields)
    const rewrites = [
      fileOf(fields, order),
      text.replaceAll(/ = (\d+);/g, (_, number: string) => ` = 0x${Number(number).toString(16)};`),
      text.replaceAll(/(f\d) = (\d);/g, '$1 /* a note */ = $2 [json_name = "$1", deprecated = false];'),
      text.replaceAll(/\b(?:E|N|O) f/g, '.p.$&'),
    ]
    for (const rewrite of rewrites)
      assert.deepEqual(comparedProtobuf(text, rewrite).groups, [], `${text}\n---\n${rewrite}`)
  }
})

/**
 * Schemas at random, with one edit each. An operation that graphql-js accepts before and refuses after is a proof: a
 * breaking or dangerous change must be reported. A schema that is only written otherwise has no change.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { buildSchema, introspectionFromSchema, parse, validate, validateSchema, type GraphQLSchema } from 'graphql'
import { generator } from '../../shuffle.ts'
import { compared } from './compared.ts'
import { Author } from './operations.ts'

const PAIRS = Number(process.env['PAIRS'] ?? 150)
const SEED = Number(process.env['SEED'] ?? 1)
const OPERATIONS = 40

class Dice {
  readonly #next: () => number

  constructor(seed: number) {
    this.#next = generator(seed)
  }

  number(below: number): number {
    return Math.floor((this.#next() / 2 ** 32) * below)
  }

  pick<T>(list: readonly T[]): T {
    const found = list[this.number(list.length)]
    assert.ok(found !== undefined)
    return found
  }

  shuffled<T>(list: readonly T[]): readonly T[] {
    return list
      .map((item) => ({ item, key: this.#next() }))
      .toSorted((one, other) => one.key - other.key)
      .map(({ item }) => item)
  }

  chance(part: number): boolean {
    return this.#next() / 2 ** 32 < part
  }
}

const OBJECTS = ['A', 'B', 'C'] as const
const LEAVES = ['Int', 'String', 'Mood'] as const
const FIELDS = ['a', 'b', 'c', 'd'] as const

/** A schema as its parts: one line for each field, value, member and interface. */
interface Plan {
  readonly fields: Map<string, string>
  readonly members: Set<string>
  readonly named: Set<string>
  readonly moods: Set<string>
  readonly inputs: Map<string, string>
}

function wrapped(name: string, dice: Dice): string {
  return dice.pick(['@', '@', '@!', '[@]', '[@!]', '[@!]!']).replace('@', name)
}

function argument(name: string, dice: Dice): string {
  const type = dice.pick(['Int', 'Int!', 'Mood', 'Form', '[Int]', '[Int!]'])
  const value = type === 'Int' && dice.chance(0.3) ? ' = 1' : type === '[Int]' && dice.chance(0.3) ? ' = [1]' : ''
  return `${name}: ${type}${value}`
}

function field(dice: Dice): string {
  const given = dice.chance(0.3) ? `(${argument('x', dice)})` : ''
  return `${given}: ${wrapped(dice.pick([...LEAVES, ...OBJECTS, 'Either', 'Named']), dice)}`
}

function plan(dice: Dice): Plan {
  const fields = new Map<string, string>()
  // Fields of one name often have one type, so that operations can select them together.
  const shared = new Map(FIELDS.map((name) => [name, field(dice)]))
  for (const owner of [...OBJECTS, 'Query']) {
    for (const name of FIELDS) {
      if (!dice.chance(0.6) && name !== 'a') continue
      fields.set(`${owner}.${name}`, dice.chance(0.7) ? (shared.get(name) ?? '') : field(dice))
    }
  }
  return {
    fields,
    members: new Set(OBJECTS.filter((_, index) => index === 0 || dice.chance(0.6))),
    named: new Set(OBJECTS.filter(() => dice.chance(0.6))),
    moods: new Set(['CALM', 'LOUD', ...(dice.chance(0.5) ? ['ODD'] : [])]),
    inputs: new Map([
      ['p', dice.pick(['Int', 'Int!', '[Int]', 'Mood'])],
      ['q', dice.pick(['Int', 'Int!', 'Form'])],
    ]),
  }
}

/** The definitions of a plan. `isSplit` writes some of them as extensions. */
function definitions({ fields, members, named, moods, inputs }: Plan, isSplit = false): readonly string[] {
  const objects = [...OBJECTS, 'Query'].flatMap((owner) => {
    const own = [...fields].filter(([name]) => name.startsWith(`${owner}.`))
    const texts = own.map(([name, text]) => `${name.slice(owner.length + 1)}${text}`)
    const isNamed = named.has(owner)
    const head = isNamed ? ['n: Int'] : []
    if (!isSplit || texts.length < 2) {
      return [`type ${owner}${isNamed ? ' implements Named' : ''} { ${[...head, ...texts].join(' ')} }`]
    }
    const [first = '', ...rest] = [...head, ...texts]
    return [
      `type ${owner} { ${first} }`,
      `extend type ${owner}${isNamed ? ' implements & Named' : ''} { ${rest.join(', ')} }`,
    ]
  })
  const [mood = '', ...others] = moods
  return [
    ...objects,
    'interface Named { n: Int }',
    `union Either = ${isSplit ? '| ' : ''}${[...members].join(' | ')}`,
    ...(isSplit
      ? [`enum Mood { ${mood} }`, `extend enum Mood { ${others.join(' ')} }`]
      : [`enum Mood { ${[...moods].join(' ')} }`]),
    `input Form { ${[...inputs].map(([name, type]) => `${name}: ${type}`).join(' ')} }`,
    ...(isSplit ? ['schema { query: Query }'] : []),
  ]
}

/** One edit at random. */
function edited(base: Plan, dice: Dice): Plan {
  const copy: Plan = structuredClone(base)
  const [name, text] = dice.pick([...copy.fields])
  const edits: readonly (() => void)[] = [
    () => name.endsWith('.a') || copy.fields.delete(name),
    () => copy.fields.set(name, field(dice)),
    () => copy.fields.set(name, text.endsWith('!') ? text.slice(0, -1) : `${text}!`),
    () =>
      copy.fields.set(
        name,
        `${text.slice(0, text.lastIndexOf(':'))}: ${wrapped(/\w+/.exec(text.slice(text.lastIndexOf(':')))?.[0] ?? 'Int', dice)}`,
      ),
    () => copy.fields.set(`${dice.pick(OBJECTS)}.${dice.pick(FIELDS)}`, field(dice)),
    () => copy.members.add(dice.pick(OBJECTS)),
    () => copy.members.size > 1 && copy.members.delete(dice.pick(OBJECTS)),
    () => copy.named.add(dice.pick(OBJECTS)),
    () => copy.named.delete(dice.pick(OBJECTS)),
    () => copy.moods.add('NEW'),
    () => copy.moods.delete('LOUD'),
    () => copy.inputs.set(dice.pick(['p', 'q', 'r']), dice.pick(['Int', 'Int!', '[Int]', 'Mood', 'Form'])),
    () => copy.inputs.delete('q'),
  ]
  dice.pick(edits)()
  return copy
}

function built(text: string): GraphQLSchema | null {
  const schema = buildSchema(text, { assumeValidSDL: true, assumeValid: false })
  return validateSchema(schema).length === 0 ? schema : null
}

test('an operation that is refused after an edit has a change that is not information', (t) => {
  const counts = { pairs: 0, proofs: 0 }
  for (let index = 0; index < PAIRS; index += 1) {
    const dice = new Dice(SEED * 100_003 + index)
    const base = plan(dice)
    const [before, after] = [base, edited(base, dice)].map((one) => definitions(one).join('\n'))
    assert.ok(before !== undefined && after !== undefined)
    const [old, current] = [built(before), built(after)]
    if (old === null || current === null) continue
    counts.pairs += 1
    const isReported = compared(before, after).groups.some(({ level }) => level !== 'info')
    const author = new Author(old, SEED + index, { hasAliases: index % 2 === 0 })
    for (let operation = 0; operation < OPERATIONS; operation += 1) {
      const text = author.operation()
      const document = parse(text)
      if (validate(old, document).length > 0) continue
      const [error] = validate(current, document)
      if (error === undefined) continue
      counts.proofs += 1
      assert.ok(isReported, `${text}\n${error.message}\n${before}\n---\n${after}`)
    }
  }
  t.diagnostic(JSON.stringify(counts))
  assert.ok(counts.pairs > PAIRS / 2 && counts.proofs > PAIRS / 4, JSON.stringify(counts))
})

test('a schema that is only written otherwise has no change', () => {
  for (let index = 0; index < PAIRS / 3; index += 1) {
    const dice = new Dice(SEED * 7_919 + index)
    const base = plan(dice)
    const text = definitions(base).join('\n')
    const schema = built(text)
    if (schema === null) continue
    const rewrites = [
      dice.shuffled(definitions(base)).join('\n\n'),
      dice.shuffled(definitions(base, true)).join('\n# a comment\n'),
      JSON.stringify(introspectionFromSchema(schema)),
    ]
    for (const rewrite of rewrites) assert.deepEqual(compared(text, rewrite).groups, [], `${text}\n---\n${rewrite}`)
  }
})

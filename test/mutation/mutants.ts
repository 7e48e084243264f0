/** Mutants of a module: small changes of its code, each of which some test ought to notice. Types are taken out first: no test could see a mutant in one. */
import { stripTypeScriptTypes } from 'node:module'
import { parse, type AnyNode } from 'acorn'

export interface Mutant {
  /** Offsets into the module without its types; stripping the types keeps offsets. */
  readonly start: number
  readonly end: number
  readonly replacement: string
  /** For people: what became of what. */
  readonly what: string
}

type Mutate = (node: AnyNode, code: string) => readonly (readonly [start: number, end: number, replacement: string])[]

const OPERATORS: Readonly<Record<string, string>> = {
  '===': '!==',
  '!==': '===',
  '<': '>=',
  '>': '<=',
  '<=': '>',
  '>=': '<',
  '+': '-',
  '-': '+',
  '*': '/',
  '/': '*',
  '&&': '||',
  '||': '&&',
  '??': '&&',
}

const METHODS: Readonly<Record<string, string>> = {
  some: 'every',
  every: 'some',
  min: 'max',
  max: 'min',
  startsWith: 'endsWith',
}

/** Words that code branches on; prose is for people, and no test should hold each of its letters. */
const WORD = /^[A-Za-z0-9_.:/-]+$/

/** Kind of node → its mutants. */
const MUTATORS: Readonly<Record<string, Mutate>> = {
  BinaryExpression: operator,
  LogicalExpression: operator,
  UnaryExpression: (node) =>
    node.type === 'UnaryExpression' && node.operator === '!' ? [[node.start, node.argument.start, '']] : [],
  ConditionalExpression: (node) => (node.type === 'ConditionalExpression' ? bothWays(node.test) : []),
  IfStatement: (node) => (node.type === 'IfStatement' ? bothWays(node.test) : []),
  Literal: (node) => (node.type === 'Literal' ? literal(node.start, node.end, node.value) : []),
  ArrayExpression: (node) =>
    node.type === 'ArrayExpression' && node.elements.length > 0 ? [[node.start, node.end, '[]']] : [],
  ExpressionStatement: (node) => (node.type === 'ExpressionStatement' ? [[node.start, node.end, ';']] : []),
  CallExpression: (node) => {
    if (node.type !== 'CallExpression' || node.callee.type !== 'MemberExpression') return []
    const { object, property } = node.callee
    if (property.type !== 'Identifier') return []
    const other = METHODS[property.name]
    if (other !== undefined) return [[property.start, property.end, other]]
    return property.name === 'filter' || property.name === 'toSorted' || property.name === 'sort'
      ? [[object.end, node.end, '']]
      : []
  },
}

/** @throws when the module is no TypeScript that Node can run */
export function mutantsOf(source: string): { readonly code: string; readonly mutants: readonly Mutant[] } {
  const code = stripTypeScriptTypes(source, { mode: 'strip' })
  const mutants: Mutant[] = []
  walk(parse(code, { ecmaVersion: 'latest', sourceType: 'module' }), (node) => {
    for (const [start, end, replacement] of MUTATORS[node.type]?.(node, code) ?? []) {
      const line = code.slice(0, start).split('\n').length
      const was = code.slice(start, end).replaceAll(/\s+/g, ' ').slice(0, 60)
      mutants.push({
        start,
        end,
        replacement,
        what: `line ${line}: ${was} → ${replacement === '' ? 'nothing' : replacement}`,
      })
    }
  })
  return { code, mutants }
}

export function mutated(
  code: string,
  { start, end, replacement }: Pick<Mutant, 'start' | 'end' | 'replacement'>,
): string {
  return code.slice(0, start) + replacement + code.slice(end)
}

function operator(node: AnyNode, code: string): ReturnType<Mutate> {
  if (node.type !== 'BinaryExpression' && node.type !== 'LogicalExpression') return []
  const other = OPERATORS[node.operator]
  if (other === undefined) return []
  const start = code.indexOf(node.operator, node.left.end)
  return [[start, start + node.operator.length, other]]
}

function bothWays(test: AnyNode): ReturnType<Mutate> {
  return [
    [test.start, test.end, 'true'],
    [test.start, test.end, 'false'],
  ]
}

function literal(start: number, end: number, value: unknown): ReturnType<Mutate> {
  if (typeof value === 'boolean') return [[start, end, String(!value)]]
  if (typeof value === 'number') return [[start, end, String(value + 1)]]
  return typeof value === 'string' && WORD.test(value) ? [[start, end, '"mutant"']] : []
}

/** Names of modules and of members are no behaviour of this one. */
function walk(node: AnyNode, visit: (node: AnyNode) => void): void {
  visit(node)
  for (const [name, child] of Object.entries(node)) {
    if (name === 'source' || (node.type === 'Property' && name === 'key')) continue
    for (const one of Array.isArray(child) ? child : [child]) if (isNode(one)) walk(one, visit)
  }
}

function isNode(value: unknown): value is AnyNode {
  return typeof value === 'object' && value !== null && 'type' in value && 'start' in value
}

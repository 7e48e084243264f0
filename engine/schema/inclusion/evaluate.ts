/** Whether a schema admits a value: true, false, or null where that is not known. Used to check every counterexample. */
import { ValueSet } from '../equality.ts'
import { isRecord, type JsonRecord } from '../located.ts'
import { isOfFormat } from './formats.ts'
import {
  jsonTypeOf,
  constrainedType,
  isSilent,
  type Bound,
  type Constraint,
  type Items,
  type SchemaNode,
  type Shape,
} from './model.ts'
import { PatternIndex } from './pattern-index.ts'
import { isMember, languageOf } from './patterns.ts'
import { readTextAs } from './reading.ts'

export type Truth = boolean | null

const MAX_DEPTH = 100

export interface Evaluation {
  /** Counts a step; false when there are none left. */
  readonly spend: () => boolean
  /** What was found of an object or a list, by the schema's number. */
  readonly known: WeakMap<object, Map<number, boolean>>
  /** What is assumed where it is not known whether a value has a format or matches a pattern. Absent: nothing. */
  readonly assumed?: (condition: string) => boolean
}

function orAssumed(verdict: Truth, { assumed }: Evaluation, ...condition: readonly unknown[]): Truth {
  return verdict === null && assumed !== undefined ? assumed(JSON.stringify(condition)) : verdict
}

/** The conjunction of verdicts, evaluated until one is false. */
export function every<Item>(items: Iterable<Item>, verdict: (item: Item) => Truth): Truth {
  let result: Truth = true
  for (const item of items) {
    const one = verdict(item)
    if (one === false) return false
    if (one === null) result = null
  }
  return result
}

export function not(verdict: Truth): Truth {
  return verdict === null ? null : !verdict
}

export function admitsValue(node: SchemaNode, value: unknown, by: Evaluation, depth = 0): Truth {
  if (depth > MAX_DEPTH || !by.spend()) return null
  if (typeof value !== 'object' || value === null) return meets(node, value, by, depth)
  return rememberedTruth(node, value, by, depth)
}

/** A value that an example is made of is held against the same schemas again in each value that holds it. */
function rememberedTruth(node: SchemaNode, value: object, by: Evaluation, depth: number): Truth {
  let verdicts = by.known.get(value)
  if (verdicts === undefined) by.known.set(value, (verdicts = new Map()))
  const known = verdicts.get(node.id)
  if (known !== undefined) return known
  const verdict = meets(node, value, by, depth)
  if (verdict !== null) verdicts.set(node.id, verdict)
  return verdict
}

function meets(node: SchemaNode, value: unknown, by: Evaluation, depth: number): Truth {
  let isKnown = true
  const isRefused = node.constraints.some((constraint) => {
    const verdict = holds(constraint, value, by, depth + 1)
    isKnown &&= verdict !== null
    return verdict === false
  })
  return isRefused ? false : isKnown || null
}

export function holds(constraint: Constraint, value: unknown, by: Evaluation, depth = 0): Truth {
  if (constraint.kind === 'types') {
    return constraint.types.has(jsonTypeOf(value))
  }
  const type = constrainedType(constraint)
  if (type !== null) return type === jsonTypeOf(value) ? holdsOfType(constraint, value, by, depth) : true
  const test = (node: SchemaNode): Truth => admitsValue(node, value, by, depth)
  if (constraint.kind === 'never') {
    return false
  }
  if (constraint.kind === 'values') {
    return constraint.set.has(value)
  }
  if (constraint.kind === 'opaque') {
    return null
  }
  if (constraint.kind === 'all') {
    return every(constraint.nodes, test)
  }
  if (constraint.kind === 'any') {
    return not(every(constraint.nodes, (node) => not(test(node))))
  }
  if (constraint.kind === 'one') {
    return isOne(constraint.nodes.map(test))
  }
  if (constraint.kind === 'not') {
    return not(test(constraint.node))
  }
  if (isSilent(constraint)) {
    return true
  }
  if (constraint.kind === 'condition') {
    const met = test(constraint.test)
    if (met === null) return null
    const part = met ? constraint.then : constraint.otherwise
    return part === null ? true : test(part)
  }
  return null
}

function isOne(verdicts: readonly Truth[]): Truth {
  const met = verdicts.filter((verdict) => verdict === true).length
  if (met > 1) return false
  return verdicts.includes(null) ? null : met === 1
}

function holdsOfType(constraint: Constraint, value: unknown, by: Evaluation, depth: number): Truth {
  if (typeof value === 'number') return holdsOfNumber(constraint, value, by)
  if (typeof value === 'string') return holdsOfText(constraint, value, by, depth)
  if (Array.isArray(value)) return holdsOfArray(constraint, value, by, depth)
  return isRecord(value) ? holdsOfObject(constraint, value, by, depth) : true
}

export function isInBound({ end, limit, isExclusive }: Bound, value: number): boolean {
  if (value === limit) return !isExclusive
  return end === 'min' ? value > limit : value < limit
}

/** Division of decimal fractions is not exact: 0.3 is a multiple of 0.1. */
export function isMultiple(value: number, of: number): boolean {
  if (Number.isInteger(value) && Number.isInteger(of)) return value % of === 0
  const quotient = value / of
  return Number.isInteger(quotient) || Math.abs(quotient - Math.round(quotient)) < 1e-9
}

function holdsOfNumber(constraint: Constraint, value: number, by: Evaluation): Truth {
  if (constraint.kind === 'bound') return isInBound(constraint, value)
  if (constraint.kind === 'multiple') return isMultiple(value, constraint.of)
  if (constraint.kind !== 'format') return null
  return orAssumed(isOfFormat(constraint.name, value), by, 'format', constraint.name, value)
}

function holdsOfText(constraint: Constraint, value: string, by: Evaluation, depth: number): Truth {
  if (constraint.kind === 'read') return holds(constraint.constraint, readTextAs(value, constraint.typed), by, depth)
  if (constraint.kind === 'bound') return isInBound(constraint, countCharacters(value))
  if (constraint.kind === 'format')
    return orAssumed(isOfFormat(constraint.name, value), by, 'format', constraint.name, value)
  if (constraint.kind !== 'pattern') return null
  return orAssumed(isMatch(constraint.source, value), by, 'pattern', constraint.source, value)
}

/** Lengths count characters (RFC 8259 §1), not their halves in UTF-16. */
export function countCharacters(text: string): number {
  let length = 0
  for (const _ of text) length += 1
  return length
}

export function isMatch(pattern: string, text: string): Truth {
  const language = languageOf(pattern)
  return language === null ? null : isMember(language, text)
}

function holdsOfArray(constraint: Constraint, value: readonly unknown[], by: Evaluation, depth: number): Truth {
  if (constraint.kind === 'bound') {
    return isInBound(constraint, value.length)
  }
  if (constraint.kind === 'unique') {
    return new ValueSet(value).size === value.length
  }
  if (constraint.kind === 'items') {
    return every(value.entries(), ([index, item]) => {
      const node = itemNode(constraint, index)
      return node === null ? true : admitsValue(node, item, by, depth)
    })
  }
  if (constraint.kind === 'contains') {
    const verdicts = value.map((item) => admitsValue(constraint.node, item, by, depth))
    const sure = verdicts.filter((verdict) => verdict === true).length
    const most = sure + verdicts.filter((verdict) => verdict === null).length
    const max = constraint.max ?? Infinity
    if (most < constraint.min || sure > max) return false
    return sure >= constraint.min && most <= max ? true : null
  }
  if (constraint.kind === 'unevaluated') {
    const seen = new Set<unknown>()
    if (!lookItems(constraint.owner, { value, seen, by }, depth)) return null
    return every(value.entries(), ([index, item]) =>
      seen.has(index) ? true : admitsValue(constraint.node, item, by, depth),
    )
  }
  return null
}

export function itemNode({ prefix, rest }: Items, index: number): SchemaNode | null {
  return prefix[index] ?? rest
}

function holdsOfObject(constraint: Constraint, value: JsonRecord, by: Evaluation, depth: number): Truth {
  if (constraint.kind === 'bound') {
    return isInBound(constraint, Object.keys(value).length)
  }
  if (constraint.kind === 'required') {
    return Object.hasOwn(value, constraint.name)
  }
  if (constraint.kind === 'names') {
    return every(Object.keys(value), (name) => admitsValue(constraint.node, name, by, depth))
  }
  if (constraint.kind === 'dependent') {
    return Object.hasOwn(value, constraint.name) ? admitsValue(constraint.node, value, by, depth) : true
  }
  if (constraint.kind === 'shape') {
    return holdsShape(constraint, value, by, depth)
  }
  if (constraint.kind === 'unevaluated') {
    const seen = new Set<unknown>()
    if (!lookNames(constraint.owner, { value, seen, by }, depth)) return null
    return every(Object.keys(value), (name) =>
      seen.has(name) ? true : admitsValue(constraint.node, value[name], by, depth),
    )
  }
  return null
}

function holdsShape(shape: Shape, value: JsonRecord, by: Evaluation, depth: number): Truth {
  const { properties, patterns, others } = shape
  return every(Object.keys(value), (name) => {
    if (patterns.length > 0) {
      const nodes = shapeNodes(shape, name)
      return nodes === null ? null : every(nodes, (node) => admitsValue(node, value[name], by, depth))
    }
    const node = properties.get(name) ?? others
    return node === null || admitsValue(node, value[name], by, depth)
  })
}

const NO_NODES: readonly SchemaNode[] = []

/** The schemas that a shape has for the value of a name; null where a pattern is not known. */
export function shapeNodes({ properties, patterns, others }: Shape, name: string): readonly SchemaNode[] | null {
  const own = properties.get(name)
  if (patterns.length === 0) return own === undefined ? (others === null ? NO_NODES : [others]) : [own]
  const matching = indexOf(patterns).matching(name)
  if (matching === null) return null
  const nodes: SchemaNode[] = own === undefined ? [] : [own]
  for (const index of matching) {
    const node = patterns[index]?.[1]
    if (node !== undefined) nodes.push(node)
  }
  if (own === undefined && matching.length === 0 && others !== null) nodes.push(others)
  return nodes
}

const INDICES = new WeakMap<Shape['patterns'], PatternIndex>()

function indexOf(patterns: Shape['patterns']): PatternIndex {
  const known = INDICES.get(patterns)
  if (known !== undefined) return known
  const index = new PatternIndex(patterns.map(([source]) => source))
  INDICES.set(patterns, index)
  return index
}

/** Schemas at the same place of the value that hold for it; null: one of them is not known. */
function partsThatHold(
  constraint: Constraint,
  value: unknown,
  by: Evaluation,
  depth: number,
): readonly SchemaNode[] | null {
  const held = (nodes: readonly SchemaNode[]): readonly SchemaNode[] | null => {
    const verdicts = nodes.map((node) => admitsValue(node, value, by, depth))
    return verdicts.includes(null) ? null : nodes.filter((_, index) => verdicts[index] === true)
  }
  if (constraint.kind === 'all' || constraint.kind === 'any' || constraint.kind === 'one') return held(constraint.nodes)
  if (constraint.kind === 'dependent')
    return isRecord(value) && Object.hasOwn(value, constraint.name) ? held([constraint.node]) : []
  // What is not looked into may evaluate anything.
  if (constraint.kind === 'opaque') return null
  if (constraint.kind !== 'condition') return []
  const test = held([constraint.test])
  if (test === null) return null
  const part = test.length > 0 ? constraint.then : constraint.otherwise
  const consequence = part === null ? [] : held([part])
  return consequence === null ? null : [...test, ...consequence]
}

/** A value, and what schemas look at in it: names of an object, or positions of a list. */
interface Viewed<Value> {
  readonly value: Value
  readonly seen: Set<unknown>
  readonly by: Evaluation
}

/** Gathers the names that a schema looks at; false where that is not known. */
function lookNames(node: SchemaNode, looked: Viewed<JsonRecord>, depth: number): boolean {
  if (depth > MAX_DEPTH) return false
  const { value, seen, by } = looked
  return node.constraints.every((constraint) => {
    if (constraint.kind === 'unevaluated') {
      for (const name of Object.keys(value)) seen.add(name)
      return true
    }
    if (constraint.kind === 'shape') {
      for (const name of Object.keys(value)) {
        const nodes = shapeNodes(constraint, name)
        if (nodes === null) return false
        if (nodes.length > 0) seen.add(name)
      }
      return true
    }
    const parts = partsThatHold(constraint, value, by, depth)
    return parts !== null && parts.every((part) => lookNames(part, looked, depth + 1))
  })
}

function lookItems(node: SchemaNode, looked: Viewed<readonly unknown[]>, depth: number): boolean {
  if (depth > MAX_DEPTH) return false
  const { value, seen, by } = looked
  return node.constraints.every((constraint) => {
    if (constraint.kind === 'unevaluated') for (const index of value.keys()) seen.add(index)
    else if (constraint.kind === 'items') {
      for (const index of value.keys()) if (itemNode(constraint, index) !== null) seen.add(index)
    } else if (constraint.kind === 'contains') {
      if (constraint.evaluates === false) return true
      for (const [index, item] of value.entries()) {
        const verdict = admitsValue(constraint.node, item, by, depth)
        if (verdict === null || (verdict && constraint.evaluates === null && !seen.has(index))) return false
        if (verdict) seen.add(index)
      }
    } else {
      const parts = partsThatHold(constraint, value, by, depth)
      return parts !== null && parts.every((part) => lookItems(part, looked, depth + 1))
    }
    return true
  })
}

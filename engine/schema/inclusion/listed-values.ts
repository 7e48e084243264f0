/** The ways in which an object or an array is none of the values that a schema lists (`enum`, `const`). */
import { isRecord, type JsonRecord } from '../located.ts'
import { unmet, type LiteralSet, type Where } from './atoms.ts'
import { jsonTypeOf, NO_NAMES, type Bound, type JsonType, type Literal, type SchemaNode, type Shape } from './model.ts'

/** The node of a list of values. */
export type ValuesNode = (values: readonly unknown[]) => SchemaNode

/** @param type of the value that is looked for: an object or an array */
export function waysToMissValues(
  values: readonly unknown[],
  type: JsonType,
  valuesNode: ValuesNode,
): readonly LiteralSet[] {
  const ofType = values.filter((value) => jsonTypeOf(value) === type)
  const [only] = ofType
  if (only === undefined) return [[]]
  if (ofType.length > 1) return [ofType.map((value) => unmet(valuesNode([value])))]
  if (Array.isArray(only)) return waysToMissArray(only, valuesNode)
  return isRecord(only) ? waysToMissObject(only, valuesNode) : [[]]
}

/** Another member, one member less, or another value of a member. */
function waysToMissObject(value: JsonRecord, valuesNode: ValuesNode): readonly LiteralSet[] {
  const own = new Map(
    Object.keys(value)
      .sort()
      .map((name) => [name, valuesNode([value[name]])]),
  )
  const shape: Shape = { kind: 'shape', side: 'sub', properties: own, patterns: [], others: null, unused: NO_NAMES }
  return [
    ...[...own.keys()].map((name): LiteralSet => [{ kind: 'presence', name, isPresent: false }]),
    ...[...own].map(([name, node]) => member({ kind: 'name', name }, [unmet(node)])),
    member({ kind: 'beyond', shape }, []),
  ]
}

function member(where: Where, value: readonly Literal[]): LiteralSet {
  return [{ kind: 'member', where, named: [], value }]
}

/** A shorter array, another item, or an item more. */
function waysToMissArray(value: readonly unknown[], valuesNode: ValuesNode): readonly LiteralSet[] {
  const { length } = value
  const shorter: Bound = { kind: 'bound', of: 'array', end: 'max', limit: length, isExclusive: true }
  return [
    ...(length === 0 ? [] : [[{ kind: 'keep', constraint: shorter, isMet: true } as const]]),
    ...value.map((one, index) => item(index, true, [unmet(valuesNode([one]))])),
    item(length, false, []),
  ]
}

function item(from: number, isOnly: boolean, value: readonly Literal[]): LiteralSet {
  return [{ kind: 'item', from, isOnly, count: 1, value }]
}

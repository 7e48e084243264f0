/** One pass over a JSON value: how many members it holds, whether all numbers are finite, and what it refers to. */
import { isRecord, type JsonRecord } from '../schema/located.ts'

/** Members of an object that are references themselves: JSON Schema 2020-12 §8.2.3, OpenAPI 3.1 Link Object. */
export const REFERENCE_MEMBERS: ReadonlySet<string> = new Set(['$ref', '$dynamicRef', '$recursiveRef', 'operationRef'])

/** What a value refers to, in its data too: a value there that looks like a reference is none. */
export interface SurveyedReferences {
  readonly references: ReadonlySet<string>
  /** Values of members that are called `discriminator`. */
  readonly discriminators: readonly JsonRecord[]
  /** Whether a member is called `$schema`. */
  readonly hasDialects: boolean
}

interface JsonSurvey extends SurveyedReferences {
  readonly members: number
  readonly isFinite: boolean
}

/** Whether nothing is to be found in a value. */
function isLeaf(value: unknown): boolean {
  return typeof value === 'object' ? value === null : typeof value !== 'number' || Number.isFinite(value)
}

export function surveyJson(root: unknown): JsonSurvey {
  let [members, isFinite] = [0, true]
  const references = new Set<string>()
  const discriminators: JsonRecord[] = []
  let hasDialects = false
  const open: unknown[] = [root]
  for (let value = open.pop(); value !== undefined; value = open.pop()) {
    if (Array.isArray(value)) {
      const items: readonly unknown[] = value
      for (let index = 0; index < items.length; index++) if (!isLeaf(items[index])) open.push(items[index])
    } else if (isRecord(value)) {
      for (const name in value) {
        members++
        const member = value[name]
        if (typeof member === 'string' && REFERENCE_MEMBERS.has(name)) references.add(member)
        if (name === '$schema') hasDialects = true
        if (isLeaf(member)) continue
        open.push(member)
        if (name === 'discriminator' && isRecord(member)) discriminators.push(member)
      }
    } else if (!isLeaf(value)) isFinite = false
  }
  return { members, isFinite, references, discriminators, hasDialects }
}

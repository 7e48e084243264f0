/** One pass over a JSON value: how many members it holds, whether all numbers are finite, and what it refers to. */
import { isRecord } from '../schema/located.ts'

/** Members of an object that are references themselves: JSON Schema 2020-12 §8.2.3, OpenAPI 3.1 Link Object. */
export const REFERENCE_MEMBERS: ReadonlySet<string> = new Set(['$ref', '$dynamicRef', '$recursiveRef', 'operationRef'])

/** What a value refers to, in its data too: a value there that looks like a reference is none. */
export interface SurveyedReferences {
  readonly references: ReadonlySet<string>
  /** Values of members that are called `discriminator`. */
  readonly discriminators: readonly object[]
}

export interface JsonSurvey extends SurveyedReferences {
  readonly members: number
  readonly isFinite: boolean
}

export function surveyJson(root: unknown): JsonSurvey {
  let [members, isFinite] = [0, true]
  const references = new Set<string>()
  const discriminators: object[] = []
  const open: object[] = []
  const look = (value: unknown): void => {
    if (typeof value === 'object') {
      if (value !== null) open.push(value)
    } else if (typeof value === 'number' && !Number.isFinite(value)) isFinite = false
  }
  look(root)
  for (let value = open.pop(); value !== undefined; value = open.pop()) {
    if (!isRecord(value)) {
      if (Array.isArray(value)) for (const item of value) look(item)
      continue
    }
    for (const name in value) {
      members++
      const member = value[name]
      if (typeof member === 'string') {
        if (REFERENCE_MEMBERS.has(name)) references.add(member)
        continue
      }
      look(member)
      if (name === 'discriminator' && typeof member === 'object' && member !== null) discriminators.push(member)
    }
  }
  return { members, isFinite, references, discriminators }
}

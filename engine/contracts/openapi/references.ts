/** Every reference of a contract that names nothing, also where no comparison leads. */
import { stepInto, type Located, type Place } from '../../schema/located.ts'
import type { DanglingReference, OpenApiDocuments } from './documents.ts'

/** Members whose values are data, not contract: what looks like a reference there is none. */
const DATA: ReadonlySet<string> = new Set(['example', 'examples', 'default', 'enum', 'const'])

/** Each reference once for each file that holds it; files that references reach are looked through as far as they are reached. */
export function danglingReferences(documents: OpenApiDocuments): readonly DanglingReference[] {
  const dangling: DanglingReference[] = []
  const checked = new Set<string>()
  const stack: Located[] = [documents.root]
  for (let next = stack.pop(); next !== undefined; next = stack.pop()) {
    const { value: holder, at, document } = next
    if (typeof holder !== 'object' || holder === null) continue
    for (const [name, value] of Object.entries(holder)) {
      if (typeof value === 'object' && value !== null) {
        if (!isData(name, at)) stack.push({ value, at: stepInto(at, name), document })
      } else if (name === '$ref' && typeof value === 'string') {
        const key = danglingKey(value, document)
        if (checked.has(key)) continue
        checked.add(key)
        const target = documents.resolve(value, next)
        if (target === null) dangling.push({ reference: value, holder: next })
        else if (target.document !== document) stack.push(target)
      }
    }
  }
  return dangling
}

/** What is the same reference in two versions of a contract. */
export function danglingKey(reference: string, document: string): string {
  return `${document} ${reference}`
}

/** True for a reference to another file or address: what stands there is not known from the text that refers to it. */
export function leadsOutside(reference: string): boolean {
  return !reference.startsWith('#')
}

/** A property may be named like one of these keywords. */
function isData(name: string, at: Place): boolean {
  return (DATA.has(name) || name.startsWith('x-')) && at.step !== 'properties' && at.step !== 'headers'
}

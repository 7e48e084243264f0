/** Every reference of a document that names nothing, also where no comparison leads. */
import { ROOT, stepInto, type Located, type Place } from '../../schema/located.ts'
import type { DanglingReference, OpenApiDocuments } from './documents.ts'

/** Members whose values are data, not contract: what looks like a reference there is none. */
const DATA: ReadonlySet<string> = new Set(['example', 'examples', 'default', 'enum', 'const'])

/** In the order of the text, each reference once. */
export function danglingReferences(documents: OpenApiDocuments): readonly DanglingReference[] {
  const dangling: DanglingReference[] = []
  const checked = new Set<string>()
  const stack: { readonly value: object; readonly at: Place }[] = []
  const { value: root } = documents.root
  if (typeof root === 'object' && root !== null) stack.push({ value: root, at: ROOT })
  for (let next = stack.pop(); next !== undefined; next = stack.pop()) {
    const { value, at } = next
    for (const [name, member] of Object.entries(value)) {
      if (typeof member === 'object' && member !== null) {
        if (!isData(name, at)) stack.push({ value: member, at: stepInto(at, name) })
      } else if (name === '$ref' && typeof member === 'string' && !checked.has(member)) {
        checked.add(member)
        const holder: Located = { value, at, document: '' }
        if (!documents.knows(member, holder)) dangling.push({ reference: member, holder })
      }
    }
  }
  return dangling
}

/** A property may be named like one of these keywords. */
function isData(name: string, at: Place): boolean {
  return (DATA.has(name) || name.startsWith('x-')) && at.step !== 'properties' && at.step !== 'headers'
}

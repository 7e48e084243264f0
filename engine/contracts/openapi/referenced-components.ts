/**
 * The targets of references in an OpenAPI document: components, definitions, path items, embedded files. Each is taken
 * as a whole, so parts never overlap.
 */
import { composePointer, localRefPointer, parsePointer, resolvePointer } from '../pointer.ts'
import { rewriteReferences } from '../rewritten-references.ts'

/** The member that contains accepted versions of parts next to those of the baseline, by number. */
export const ACCEPTED = 'x-preflight-accepted'

/** Why a part cannot be moved, as a message. */
export class UnmovableError extends Error {}

/** Pointer of the part that contains a local pointer. Null for the document or a whole section. */
export function componentPointer(pointer: string): string | null {
  const tokens = parsePointer(pointer)
  if (tokens === null) return null
  const offset = tokens[0] === ACCEPTED ? 2 : 0
  const depth = offset + (tokens[offset] === 'components' ? 3 : 2)
  return tokens.length < depth ? null : composePointer(tokens.slice(0, depth))
}

/** Pointer of the target of a reference or discriminator mapping. Null if it is outside the document. */
export function referencedPointer(reference: string, root: unknown, isMapping = false): string | null {
  if (isMapping) {
    const named = composePointer(['components', 'schemas', reference])
    if (resolvePointer(root, named).found) return named
  }
  return localRefPointer(reference)
}

/** The parts that a value refers to directly. Unresolved and external references are left out. */
export function referredParts(value: unknown, root: unknown): readonly string[] {
  const found = new Set<string>()
  const note = (reference: string, isMapping: boolean): string => {
    const target = referencedPointer(reference, root, isMapping)
    const part = target === null ? null : componentPointer(target)
    if (part !== null && resolvePointer(root, part).found) found.add(part)
    return reference
  }
  rewriteReferences(value, {
    ref: (reference) => note(reference, false),
    mapping: (target) => note(target, true),
    fixed: () => {},
  })
  return [...found]
}

/** The parts that a discriminator selects in the place of a part, by their names. */
export type Subtypes = (part: string) => readonly string[]

/** All parts that values reach, also through other parts. */
export function reachedParts(
  values: readonly unknown[],
  root: unknown,
  subtypes: Subtypes = () => [],
): ReadonlySet<string> {
  const reached = new Set<string>()
  const open = values.flatMap((value) => referredParts(value, root))
  for (let part = open.pop(); part !== undefined; part = open.pop()) {
    if (reached.has(part)) continue
    reached.add(part)
    open.push(...subtypes(part))
    const target = resolvePointer(root, part)
    if (target.found) open.push(...referredParts(target.value, root))
  }
  return reached
}

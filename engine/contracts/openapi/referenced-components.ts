/**
 * The parts of an OpenAPI document that references lead to: components, definitions, path items, embedded files. Each is
 * taken as a whole, so that two parts never overlap.
 */
import { composePointer, localRefPointer, parsePointer, resolvePointer } from '../pointer.ts'
import { rewriteReferences } from './rewritten-references.ts'

/** Member that holds the accepted versions of parts beside those of the baseline, by number. */
export const ACCEPTED = 'x-preflight-accepted'

/** Why a part cannot be moved, for people. */
export class UnmovableError extends Error {}

/** Pointer of the part that a local pointer lies in; null: the pointer names the document or a whole section of it. */
export function partOf(pointer: string): string | null {
  const tokens = parsePointer(pointer)
  if (tokens === null) return null
  const offset = tokens[0] === ACCEPTED ? 2 : 0
  const depth = offset + (tokens[offset] === 'components' ? 3 : 2)
  return tokens.length < depth ? null : composePointer(tokens.slice(0, depth))
}

/** Pointer of what a reference or a name in a discriminator's mapping means; null: something outside the document. */
export function targetOf(reference: string, root: unknown, isMapping = false): string | null {
  if (isMapping) {
    const named = composePointer(['components', 'schemas', reference])
    if (resolvePointer(root, named).found) return named
  }
  return localRefPointer(reference)
}

/** The parts that a value refers to directly. References that lead nowhere or outside are left out. */
export function referredParts(value: unknown, root: unknown): readonly string[] {
  const found = new Set<string>()
  const note = (reference: string, isMapping: boolean): string => {
    const target = targetOf(reference, root, isMapping)
    const part = target === null ? null : partOf(target)
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

/** All parts that values reach, through other parts too. */
export function reachedParts(values: readonly unknown[], root: unknown): ReadonlySet<string> {
  const reached = new Set<string>()
  const open = values.flatMap((value) => referredParts(value, root))
  for (let part = open.pop(); part !== undefined; part = open.pop()) {
    if (reached.has(part)) continue
    reached.add(part)
    const target = resolvePointer(root, part)
    if (target.found) open.push(...referredParts(target.value, root))
  }
  return reached
}

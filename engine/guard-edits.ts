/**
 * What a tool call is about to change in a file, read from its arguments: an edit that carries both sides, or a whole new content
 * (interface.md, Rules for consumers, 6). Names of arguments are those that the common file tools use; what is not recognised is
 * no edit, and its caller stops.
 */
import type { Reason } from './decide/envelope-parts.ts'
import { reason } from './decide/reasons.ts'
import type { Result } from './result.ts'
import { isRecord } from './schema/located.ts'

/** One replacement, in both sides. */
export interface Replacement {
  readonly before: string
  readonly after: string
  readonly isEverywhere: boolean
}

export type FileChange =
  | { readonly kind: 'edit'; readonly path: string; readonly replacements: readonly Replacement[] }
  | { readonly kind: 'write'; readonly path: string; readonly content: string }

const PATHS = ['path', 'file_path', 'filePath', 'filename', 'file'] as const
const CONTENTS = ['content', 'contents', 'new_content', 'newContent', 'text', 'file_text'] as const
const SIDES = [
  ['old_string', 'new_string'],
  ['old_str', 'new_str'],
  ['old_text', 'new_text'],
  ['oldString', 'newString'],
  ['oldText', 'newText'],
] as const

/** Null when the arguments describe no change of one file. Both an edit and a whole content are two readings, so none. */
export function readFileChange(args: unknown): FileChange | null {
  if (!isRecord(args)) return null
  const path = firstText(args, PATHS)
  if (path === null || path === '') return null
  const content = firstText(args, CONTENTS)
  const replacements = readReplacements(args)
  if (content !== null && replacements !== null) return null
  if (replacements !== null) return { kind: 'edit', path, replacements }
  return content === null ? null : { kind: 'write', path, content }
}

/** The file after the edits, one after the other. A text that is not there, or there more than once, has no single reading. */
export function applyReplacements(prior: string, replacements: readonly Replacement[]): Result<string, Reason> {
  let text = prior
  for (const { before, after, isEverywhere } of replacements) {
    const parts = text.split(before)
    if (before === '' || parts.length < 2 || (parts.length > 2 && !isEverywhere))
      return {
        ok: false,
        problem: reason(
          'GUARD_CALL_UNRECOGNISED',
          'The text to replace is not in the file exactly once, so what the edit would make of it cannot be told.',
        ),
      }
    text = parts.join(after)
  }
  return { ok: true, value: text }
}

function readReplacements(args: Readonly<Record<string, unknown>>): readonly Replacement[] | null {
  const own = readReplacement(args)
  if (args['edits'] === undefined) return own === null ? null : [own]
  if (own !== null || !Array.isArray(args['edits']) || args['edits'].length === 0) return null
  const entries: readonly unknown[] = args['edits']
  const edits = entries.map((edit) => (isRecord(edit) ? readReplacement(edit) : null))
  return edits.every((edit) => edit !== null) ? edits : null
}

function readReplacement(value: Readonly<Record<string, unknown>>): Replacement | null {
  for (const [oldName, newName] of SIDES) {
    const before = value[oldName]
    const after = value[newName]
    if (typeof before === 'string' && typeof after === 'string')
      return { before, after, isEverywhere: value['replace_all'] === true || value['replaceAll'] === true }
  }
  return null
}

function firstText(value: Readonly<Record<string, unknown>>, names: readonly string[]): string | null {
  const found = names.map((name) => value[name]).filter((text) => typeof text === 'string')
  // Two members that both could be meant: the tool might take the other one.
  return found.length === 1 ? (found[0] ?? null) : null
}

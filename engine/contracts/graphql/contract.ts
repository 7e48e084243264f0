/** Reads the text of a GraphQL contract: SDL, or the JSON of an introspection query. */
import { fail, ok, type Result } from '../../common/result.ts'
import { readDocument } from '../document.ts'
import type { DocumentLimits } from '../../model/limits.ts'
import { overLimit, unreadable } from '../unreadable.ts'
import { readIntrospection } from './introspection.ts'
import { NO_SCHEMA, type GraphqlSchema } from './schema.ts'
import { readSdl } from './sdl.ts'

/** Reads one side of an artifact. Empty text is a schema that does not exist. */
export function readGraphql(text: string, limits: DocumentLimits): Result<GraphqlSchema> {
  if (text === '') return ok(NO_SCHEMA)
  if (text.length > limits.maxLength) {
    return fail(overLimit(`it has ${text.length} characters, more than ${limits.maxLength}`))
  }
  const first = /[^\s\uFEFF,]/.exec(text)?.[0]
  if (first === undefined) return fail(unreadable('it is blank', { fix: 'Give the contract’s text.' }))
  // No SDL definition starts with a bracket. Such text is JSON, or the operation `{ … }`, which is not a schema.
  if (first !== '{' && first !== '[') return readSdl(text, limits)
  const document = readDocument(text, limits)
  return document.ok ? readIntrospection(document.value) : document
}

/** What starts an SDL definition, after blanks, comments and a description (GraphQL §3). */
const SDL_START = new RegExp(
  [
    /^(?:\uFEFF|[\s,]|#[^\n\r]*|"""(?:[^"\\]|\\|"(?!""))*"""|"(?:[^"\\\n]|\\.)*")*/,
    /(?:extend\s+)?(?:schema\s*[@{]|directive\s*@|(?:scalar|type|interface|union|enum|input)\s+[_A-Za-z])/,
  ]
    .map(({ source }) => source)
    .join(''),
)

/** Whether a text starts like SDL; `opening` is the start of a document, long enough for comments and a description. */
export function startsLikeSdl(opening: string): boolean {
  return SDL_START.test(opening)
}

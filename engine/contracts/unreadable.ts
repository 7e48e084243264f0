/** Why a document is not read: it is faulty, exceeds the limits, or needs more memory than there is. */
import { fail, type Problem, type Result } from '../common/result.ts'
import type { Locate, Position } from './positions.ts'

interface FaultPosition {
  readonly position?: Position | null
  readonly pointer?: string
  /** How to fix it, as a sentence. */
  readonly fix?: string
}

/** The text has a fault; `what` completes “The document cannot be read: …”, or “The document cannot be read as …: …”. */
export function unreadable(what: string, place: FaultPosition = {}): Problem {
  return problem('ARTIFACT_UNREADABLE', 'The document cannot be read', what, place)
}

/** The same, with the pointer and the position of the faulty value. */
export function unreadableAt(locate: Locate, pointer: string, what: string, fix?: string): Result<never> {
  return fail(unreadable(what, { pointer, position: locate(pointer), ...(fix === undefined ? {} : { fix }) }))
}

/** The text exceeds a limit; `what` completes “The document exceeds a limit: …”. */
export function overLimit(what: string, position: Position | null = null): Problem {
  return problem('ARTIFACT_OVER_LIMIT', 'The document exceeds a limit', what, { position })
}

/** The value of the text would take more than `maxParsedBytes`. */
export function tooLargeToParse(): Problem {
  return { code: 'ANALYSIS_MEMORY', message: 'The values of the document need more memory than there is for them.' }
}

/** The same problem for one side of a comparison. */
export function ofSide(problem: Problem, side: 'base' | 'head'): Problem {
  return { ...problem, side, message: problem.message.replace(/^The document/, `The ${side} document`) }
}

/** The place is separate from the message, for callers that show both. */
function problem(code: string, lead: string, what: string, { position, pointer, fix }: FaultPosition): Problem {
  return {
    code,
    message: `${lead}${what.startsWith('as ') ? '' : ':'} ${what}.${fix ? ` ${fix}` : ''}`,
    ...(pointer === undefined ? {} : { pointer }),
    ...(position ? { line: position.line, column: position.column } : {}),
  }
}

/** The place of the first of two, for a message about the second one. Empty if it is not known. */
export function firstAt(position: Position | null, pointer?: string): string {
  if (position !== null) return `, first at line ${position.line}, column ${position.column}`
  return pointer === undefined ? '' : `, first at ${pointer}`
}

/** The two ways in which a document is not read: it is faulty, or it costs more than the limits allow. */
import type { Problem } from '../result.ts'
import type { Position } from './positions.ts'

interface FaultPosition {
  readonly position?: Position | null
  readonly pointer?: string
  /** How to mend it, as a sentence. */
  readonly fix?: string
}

/** The text has a fault; `what` completes “The document cannot be read: …”. */
export function unreadable(what: string, place: FaultPosition = {}): Problem {
  return problem('ARTIFACT_UNREADABLE', 'The document cannot be read', what, place)
}

/** The text is more than a limit allows; `what` completes “The document is over a limit: …”. */
export function overLimit(what: string, position: Position | null = null): Problem {
  return problem('ARTIFACT_OVER_LIMIT', 'The document is over a limit', what, { position })
}

/** The same problem, said of one side of a comparison. */
export function ofSide(problem: Problem, side: 'base' | 'head'): Problem {
  return { ...problem, message: problem.message.replace(/^The document/, `The ${side} document`) }
}

/** The place stands beside the message, for whoever shows both. */
function problem(code: string, lead: string, what: string, { position, pointer, fix }: FaultPosition): Problem {
  return {
    code,
    message: `${lead}: ${what}.${fix ? ` ${fix}` : ''}`,
    ...(pointer === undefined ? {} : { pointer }),
    ...(position ? { line: position.line, column: position.column } : {}),
  }
}

/** Where the first of two stands, for a message about the second one; empty where that is not known. */
export function firstAt(position: Position | null, pointer?: string): string {
  if (position !== null) return `, first at line ${position.line}, column ${position.column}`
  return pointer === undefined ? '' : `, first at ${pointer}`
}

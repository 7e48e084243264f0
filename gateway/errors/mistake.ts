/** A mistake in configuration, policy or a document, with the place to fix it. */
import { nameOfToken } from '../../engine/base.ts'

export interface Mistake {
  /** `file:line:column`, the name of an environment variable, or the file alone. */
  readonly place: string
  /** Member of the document in dots and brackets, e.g. `routes[0].name`; empty for the document itself. */
  readonly path: string
  readonly message: string
  readonly fix: string
}

/** One line: `place: what is wrong (path): how to fix it`. */
export function formatMistake({ place, path, message, fix }: Mistake): string {
  return `${place}: ${message}${path === '' ? '' : ` (${path})`}${fix === '' ? '' : `: ${fix}`}`
}

export function inReadingOrder(mistakes: readonly Mistake[]): readonly Mistake[] {
  return mistakes.toSorted((a, b) => a.place.localeCompare(b.place, 'en', { numeric: true }))
}

/** What is wrong in a document, with the place before the full stop: `… is missing (line 1, column 2).` */
export function placedMessage({ message, pointer = '', line, column = 1 }: PlacedProblem): string {
  const place = `${line === undefined ? '' : ` (line ${line}, column ${column})`}${pointer === '' ? '' : ` at ${pointer}`}`
  return message.endsWith('.') ? `${message.slice(0, -1)}${place}.` : message + place
}

interface PlacedProblem {
  readonly message: string
  readonly pointer?: string
  readonly line?: number
  readonly column?: number
}

/** Starting or reloading is refused because of these, all of them. */
export class ConfigError extends Error {
  readonly mistakes: readonly Mistake[]

  constructor(mistakes: readonly Mistake[]) {
    const count = mistakes.length === 1 ? '1 mistake' : `${mistakes.length} mistakes`
    super(`The configuration has ${count}:\n${mistakes.map((mistake) => `  ${formatMistake(mistake)}`).join('\n')}`)
    this.name = 'ConfigError'
    this.mistakes = mistakes
  }
}

/** `/routes/0/name` → `routes[0].name`. */
export function pathOfPointer(pointer: string): string {
  return pointerSegments(pointer)
    .map((segment, index) => (/^\d+$/.test(segment) ? `[${segment}]` : index === 0 ? segment : `.${segment}`))
    .join('')
}

/** RFC 6901. */
export function pointerSegments(pointer: string): readonly string[] {
  return pointer.split('/').slice(1).map(nameOfToken)
}

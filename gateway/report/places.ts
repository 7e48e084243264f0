/**
 * The places of a change in words. One schema may stand at many places, so that the words of a change cannot name the
 * parameter, the header or the answer; those of its places do.
 */
import type { FindingGroup } from '../../engine/internal.ts'

const SHOWN = 3

/** The message of a group with the parameters, headers and payloads that it reaches: `… (query parameter limit)`. */
export function messageWithPlaces({ message, occurrences, unlisted = 0 }: FindingGroup): string {
  const places = [...new Set(occurrences.map((occurrence) => placeIn(occurrence.message, message)))].filter(
    (place) => place !== '',
  )
  if (places.length === 0) return message
  const rest = places.length - SHOWN
  const more = rest > 0 ? ` and ${rest} more` : unlisted > 0 ? ' and more' : ''
  return `${message} (${places.slice(0, SHOWN).join('; ')}${more})`
}

/** What a place says beyond the change; its own wording of the change may be another one. */
function placeIn(text: string, change: string): string {
  if (text === change || !text.endsWith(')')) return ''
  const start = text.startsWith(`${change} (`) ? change.length : openingOf(text)
  return start === -1 ? '' : text.slice(start + 2, -1)
}

/** Where the last parenthesis opens, those within it left aside; -1 where it does not. */
function openingOf(text: string): number {
  let depth = 0
  for (let index = text.length - 1; index > 0; index -= 1) {
    if (text[index] === ')') depth += 1
    if (text[index] === '(') depth -= 1
    if (depth === 0) return text[index - 1] === ' ' ? index - 1 : -1
  }
  return -1
}

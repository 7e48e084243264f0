/**
 * Text of strangers' contracts made safe to print: a message must not move a terminal's cursor, hide itself, or become markup. In
 * XML it ends neither an attribute nor an element.
 */
import { lookupTable } from '../../engine/base.ts'
import { escapeCodePoint } from '../runtime/visible-text.ts'

// C0 and C1 controls, bidirectional overrides and isolates, zero-width characters and tags: what can lie about a line.
const UNPRINTABLE = /[\p{Cc}\p{Cf}\u2028\u2029]/gu

/** One line without control or invisible characters; those are shown as `\u{…}`. */
export function printable(text: string): string {
  return text.replaceAll(/\s*[\r\n\t]+\s*/g, ' ').replaceAll(UNPRINTABLE, escapeCodePoint)
}

/** A name that a sentence sets off by backticks. */
const QUOTED = /(`[^`]+`)/

/**
 * A line of GitHub-flavoured Markdown that renders as the text itself, with names in backticks as code. It calls no
 * person, team, bot or issue: a contract must not command a bot by our comment.
 */
export function markdownText(text: string): string {
  const parts = printable(text).split(QUOTED)
  return parts.map((part, index) => (index % 2 === 1 ? markdownCode(part.slice(1, -1)) : markdownProse(part))).join('')
}

function markdownProse(text: string): string {
  return text
    .replaceAll(/[\\`*_[\]<>|#&~]/g, (character) => `\\${character}`)
    .replaceAll(/@(?=\w)|#(?=\d)/g, '$&&#8203;')
}

/** Words to a bot, which reads what a comment is written as, code or not. */
const ADDRESSED = /@(?=[\w/-]+(?:\[bot\])?\s)/g

/** Inline code: the fence is longer than any run of backticks inside (CommonMark §6.1). */
export function markdownCode(text: string): string {
  const content = printable(text).replaceAll('|', '\\|').replaceAll(ADDRESSED, '@\u200B')
  const runs = content.match(/`+/g) ?? []
  const fence = '`'.repeat(runs.reduce((longest, run) => Math.max(longest, run.length), 0) + 1)
  const pad = content.startsWith('`') || content.endsWith('`') || content === '' ? ' ' : ''
  return fence + pad + content + pad + fence
}

export type XmlAttributes = Readonly<Record<string, string | number>>

export function attributes(values: XmlAttributes): string {
  return Object.entries(values)
    .map(([name, value]) => ` ${name}="${xmlText(printable(String(value)))}"`)
    .join('')
}

const ENTITIES: Readonly<Record<string, string>> = lookupTable({
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&apos;',
})

/** Characters that XML 1.0 §2.2 has no place for are shown as U+FFFD; controls are escaped before (printable). */
export function xmlText(text: string): string {
  return text
    .toWellFormed()
    .replaceAll(/[\uFFFE\uFFFF]/g, '\uFFFD')
    .replaceAll(/[&<>"']/g, (character) => ENTITIES[character] ?? character)
}

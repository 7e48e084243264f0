/** Texts of strangers inside XML: whatever they hold, they end neither an attribute nor an element, and the document stays well-formed. */
import { lookupTable } from '../../engine/base.ts'
import { printable } from './printable.ts'

export type XmlAttributes = Readonly<Record<string, string | number>>

export function attributes(values: XmlAttributes): string {
  return Object.entries(values)
    .map(([name, value]) => ` ${name}="${escaped(printable(String(value)))}"`)
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
export function escaped(text: string): string {
  return text
    .toWellFormed()
    .replaceAll(/[\uFFFE\uFFFF]/g, '\uFFFD')
    .replaceAll(/[&<>"']/g, (character) => ENTITIES[character] ?? character)
}

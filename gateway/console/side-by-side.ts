/** Two texts side by side, line by line, with the lines around each change. */
import { structuredPatch } from 'diff'
import { html, type Markup } from './markup.ts'
import { clipped, notice } from './parts.ts'

/** Longer texts are not compared for a page; the findings are complete all the same. */
const LONGEST_TEXT = 1024 * 1024
const MOST_ROWS = 1500
const LONGEST_LINE = 400
const AROUND = 3
const TIME_MS = 500

/** JSON on one line is written over many, so that its lines mean something. */
export function displayedContract(text: string): string {
  if (text.length > LONGEST_TEXT) return clipped(text, 100_000)
  try {
    const value: unknown = JSON.parse(text)
    return clipped(JSON.stringify(value, null, 2), 100_000)
  } catch {
    return clipped(text, 100_000)
  }
}

export function sideBySide(before: string, after: string): Markup {
  if (before.length > LONGEST_TEXT || after.length > LONGEST_TEXT)
    return notice('info', 'The texts are too long to be shown side by side. Compare them with: preflight diff.')
  const options = { context: AROUND, timeout: TIME_MS }
  const patch = structuredPatch('', '', spread(before), spread(after), undefined, undefined, options)
  if (patch === undefined)
    return notice('info', 'The texts differ too much to be shown side by side. Compare them with: preflight diff.')
  const rows: Markup[] = []
  for (const { oldStart, newStart, lines } of patch.hunks) {
    if (rows.length >= MOST_ROWS) break
    rows.push(
      html`<tr class="gap">
        <td colspan="4">Line ${oldStart} before, line ${newStart} after</td>
      </tr>`,
    )
    rows.push(...hunkRows(oldStart, newStart, lines))
  }
  if (rows.length === 0) return notice('info', 'The texts differ in spaces and order only.')
  return html`<div class="card scroll" tabindex="0" role="group" aria-label="Differences">
      <table class="diff">
        <caption class="hidden">
          Baseline on the left, candidate on the right
        </caption>
        <thead>
          <tr>
            <td class="line"></td>
            <th scope="col">Baseline</th>
            <td class="line"></td>
            <th scope="col">Candidate</th>
          </tr>
        </thead>
        <tbody>
          ${rows.slice(0, MOST_ROWS)}
        </tbody>
      </table>
    </div>
    ${rows.length > MOST_ROWS ? html`<p class="muted">More differences follow. See them all with: preflight diff.</p>` : null}`
}

function spread(text: string): string {
  try {
    const value: unknown = JSON.parse(text)
    return `${JSON.stringify(value, null, 2)}\n`
  } catch {
    return text
  }
}

interface DiffLine {
  readonly number: number
  readonly text: string
}

function hunkRows(oldStart: number, newStart: number, lines: readonly string[]): readonly Markup[] {
  const rows: Markup[] = []
  let [oldLine, newLine] = [oldStart, newStart]
  let gone: DiffLine[] = []
  let added: DiffLine[] = []
  const flush = (): void => {
    for (let index = 0; index < Math.max(gone.length, added.length); index += 1)
      rows.push(diffRow(gone[index] ?? null, added[index] ?? null, true))
    gone = []
    added = []
  }
  for (const line of lines) {
    const text = clipped(line.slice(1), LONGEST_LINE)
    if (line.startsWith('-')) gone.push({ number: oldLine++, text })
    else if (line.startsWith('+')) added.push({ number: newLine++, text })
    else if (line.startsWith(' ')) {
      flush()
      rows.push(diffRow({ number: oldLine++, text }, { number: newLine++, text }, false))
    }
  }
  flush()
  return rows
}

function diffRow(before: DiffLine | null, after: DiffLine | null, isChange: boolean): Markup {
  return html`<tr class="${isChange ? '' : 'same'}">
    <td class="line">${before?.number ?? null}</td>
    <td class="${isChange ? (before === null ? 'none' : 'gone') : ''}">${before?.text ?? null}</td>
    <td class="line">${after?.number ?? null}</td>
    <td class="${isChange ? (after === null ? 'none' : 'new') : ''}">${after?.text ?? null}</td>
  </tr>`
}

/** Findings as people read them: by level, each with its places, its position, and what was there before and after. */
import { countPlaces, LEVELS, nameOfToken, occurrenceText } from '../../engine/base.ts'
import type { Artifact, FindingGroup, Level } from '../../engine/internal.ts'
import type { KeptAssessment } from '../flow/kept-assessment.ts'
import { reportGroup } from '../report/diff-report.ts'
import { html, type Content, type Markup } from './markup.ts'
import { badge, clipped, countedNoun } from './parts.ts'
import { message as messageMarkup } from './subject.ts'

const SHOWN = 40
const SHOWN_PLACES = 4
const LONGEST_VALUE = 1500
/** Values up to this length stand in one line. */
const SHORT = 60
const LONGEST_LINE = 200
/** Lines around a position. */
const AROUND = 2

const LEVEL_WORDS: Readonly<Record<Level, { readonly text: string; readonly tone: 'bad' | 'warn' | 'none' }>> = {
  breaking: { text: 'Breaking', tone: 'bad' },
  dangerous: { text: 'Dangerous', tone: 'warn' },
  info: { text: 'Information', tone: 'none' },
}

/** A finding, and the policy rule that decided on it where one did. */
interface FindingRow {
  readonly artifact: string | null
  readonly group: FindingGroup
  readonly policyRule: string | null
}

/** The findings that decide, worst first. */
export function findingsList({ judged, artifacts }: Pick<KeptAssessment, 'judged' | 'artifacts'>): Markup {
  const rows = judged.artifacts
    .flatMap(({ judgements }) => judgements)
    .map(({ artifact, group, effect }) => ({ artifact, group, policyRule: effect.ruleId }))
  if (rows.length === 0)
    return html`<div class="card empty">
      <strong>No findings</strong><span>The decision rests on a rule about the change as a whole.</span>
    </div>`
  return byLevel(rows, artifacts)
}

/** The findings of a comparison, without a policy. */
export function plainFindings(groups: readonly FindingGroup[]): Markup {
  if (groups.length === 0)
    return html`<div class="card empty"><strong>No findings</strong><span>The two contracts mean the same.</span></div>`
  return byLevel(
    groups.map((group) => ({ artifact: null, group, policyRule: null })),
    [],
  )
}

function byLevel(rows: readonly FindingRow[], artifacts: readonly Artifact[]): Markup {
  const levels = LEVELS.map((level) => ({ level, rows: rows.filter(({ group }) => group.level === level) }))
  let left = SHOWN
  return html`<div class="card">
    ${levels
      .filter((entry) => entry.rows.length > 0)
      .map(({ level, rows: found }) => {
        const shown = found.slice(0, Math.max(0, left))
        left -= shown.length
        return html`<div class="level">
            ${badge(LEVEL_WORDS[level].text, LEVEL_WORDS[level].tone)}
            <span class="muted small">${changesText(found)}</span>
          </div>
          ${shown.map((row) => finding(row, artifacts))}
          ${
            shown.length < found.length
              ? html`<p class="finding muted">
                  ${countedNoun(found.length - shown.length, 'further change')}; the API lists all of them.
                </p>`
              : null
          }`
      })}
  </div>`
}

/** Changes, and the places that they reach where those are more: texts about a decision count places. */
function changesText(rows: readonly FindingRow[]): string {
  const changes = countedNoun(rows.length, 'change')
  const places = rows.reduce((sum, { group }) => sum + countPlaces(group), 0)
  return places === rows.length ? changes : `${changes} at ${countedNoun(places, 'place')}`
}

function finding({ artifact, group, policyRule }: FindingRow, artifacts: readonly Artifact[]): Markup {
  const { rule, location, side, line, column, message, explanation, fix, level } = { ...group, ...reportGroup(group) }
  const position = line === null ? null : `${side}, line ${line}${column === null ? '' : `, column ${column}`}`
  return html`<article class="finding">
    <p class="what">${messageMarkup(message)}</p>
    <p class="where">
      ${artifact === null ? null : html`<span>${artifact}</span>`}
      <code title="${location}">${clipped(pointerPlace(location), 300)}</code>
      ${position === null ? null : html`<span>${position}</span>`}
      <span>rule <code>${rule}</code></span>
      ${policyRule === null || policyRule === 'none' ? null : html`<span>policy rule <code>${policyRule}</code></span>`}
    </p>
    ${groupPlaces(group)} ${sides(group)}
    ${excerpt(
      group,
      artifacts.find(({ id }) => id === artifact),
    )}
    ${
      level === 'info'
        ? null
        : html`<details>
            <summary>Why it matters, and how to avoid it</summary>
            <p>${explanation}</p>
            <p class="muted">${fix}</p>
          </details>`
    }
  </article>`
}

/** Short values stand in one line; longer ones side by side. */
function sides({ before, after }: FindingGroup): Content {
  if (before === null && after === null) return null
  if (JSON.stringify(before) === JSON.stringify(after)) return null
  const [short, further] = [before, after].map((value) => (value === null ? '' : valueLine(value)))
  const isShort = `${short}${further}`.length <= SHORT * 2
  if (isShort)
    return html`<p class="change">
      <span class="hidden">before </span
      >${before === null ? html`<span class="none">absent</span>` : html`<del>${short ?? ''}</del>`}
      <span aria-hidden="true">→</span><span class="hidden"> after </span>
      ${after === null ? html`<span class="none">absent</span>` : html`<ins>${further ?? ''}</ins>`}
    </p>`
  return html`<div class="pair">
    <div>
      <p class="side-label">Before</p>
      <pre class="${before === null ? '' : 'before '}wrap">${findingValue(before)}</pre>
    </div>
    <div>
      <p class="side-label">After</p>
      <pre class="${after === null ? '' : 'after '}wrap">${findingValue(after)}</pre>
    </div>
  </div>`
}

function valueLine(value: NonNullable<FindingGroup['before']>): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}

function wholeValueText(value: NonNullable<FindingGroup['before']>): string {
  return typeof value === 'string' ? value : JSON.stringify(value, null, 2)
}

function findingValue(value: FindingGroup['before']): Content {
  if (value === null) return html`<span class="none">absent</span>`
  return clipped(wholeValueText(value), LONGEST_VALUE)
}

/** `paths › /orders/{id} › get` instead of `/paths/~1orders~1{id}/get`, which is the title. */
function pointerPlace(pointer: string): string {
  const segments = pointer.split('/').slice(1)
  if (segments.length === 0) return 'the document'
  return segments.map(nameOfToken).join(' › ')
}

function placeItems(texts: readonly string[]): readonly Markup[] {
  return texts.map((text) => html`<li><code>${clipped(text, 300)}</code></li>`)
}

function groupPlaces(group: FindingGroup): Content {
  const places = [...new Set(group.occurrences.map(occurrenceText))].filter((text) => text !== '')
  if (places.length === 0) return null
  const count = countPlaces(group)
  if (places.length <= SHOWN_PLACES)
    return html`<ul class="plain" aria-label="Places">
      ${placeItems(places)}
    </ul>`
  return html`<details>
    <summary>${countedNoun(count, 'place')}</summary>
    <ul class="plain">
      ${placeItems(places.slice(0, 100))}
    </ul>
  </details>`
}

/** The lines around the position in the document that it points into. */
function excerpt({ line, side }: FindingGroup, artifact: Artifact | undefined): Content {
  if (line === null || artifact === undefined) return null
  const text = side === 'base' ? artifact.before : artifact.after
  const lines = linesAround(text, line)
  // A document on one line shows nothing that the values do not show.
  if (lines.length < 2) return null
  return html`<details>
    <summary>${side === 'base' ? 'Before' : 'After'}, around line ${line}</summary>
    <pre>
${lines
  .map(({ number, content }) => `${number === line ? '>' : ' '} ${String(number).padStart(5)}  ${content}`)
  .join('\n')}</pre>
  </details>`
}

function linesAround(text: string, line: number): readonly { readonly number: number; readonly content: string }[] {
  const found: { number: number; content: string }[] = []
  let start = 0
  for (let number = 1; number <= line + AROUND && start <= text.length; number += 1) {
    const end = text.indexOf('\n', start)
    const stop = end === -1 ? text.length : end
    if (number >= line - AROUND) found.push({ number, content: clipped(text.slice(start, stop), LONGEST_LINE) })
    start = stop + 1
  }
  return found
}

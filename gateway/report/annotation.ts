/**
 * A finding in a list of findings: its place, and the facts about it, each on a line of its own. The place is in the working tree,
 * or as near to it as there is.
 */
import type { ReportGroup, DiffReport } from './diff-report.ts'
import { printable } from './printable.ts'
import type { Level } from '../../engine/internal.ts'
import type { IgnoredGroup } from './ignore-list.ts'

/** A compared document as reports name it. */
export interface ReportedDocument {
  /** As the user wrote it. */
  readonly name: string
  /** With forward slashes, from the working directory where it lies below it; null for standard input. */
  readonly path: string | null
  /** False: the text was read at another ref, so that its lines are not those of the file that is checked out. */
  readonly isCheckedOut: boolean
  /** Of a document of several files: where each is, in the form of `path`, by the name that locations begin with. */
  readonly files?: ReadonlyMap<string, string> | undefined
}

interface ReportedPair {
  readonly base: ReportedDocument
  readonly head: ReportedDocument
}

/** All that texts for people name of a document. */
export type NamedPair = Readonly<
  Record<'base' | 'head', Pick<ReportedDocument, 'name' | 'files'> & Partial<Pick<ReportedDocument, 'isCheckedOut'>>>
>

interface Annotation {
  readonly path: string
  /** Null: the file as a whole. */
  readonly position: { readonly line: number; readonly column: number } | null
}

type PlacedGroup = Pick<ReportGroup, 'side' | 'line' | 'column' | 'location'>

/**
 * What was removed stands in the base only. Where that is not checked out, the head as a whole is annotated: a line of the
 * one text would be the wrong line of the other. Null when both sides came from standard input or the like.
 */
export function annotationOf({ side, line, column, location }: PlacedGroup, pair: ReportedPair): Annotation | null {
  const own = pair[side]
  const ownPath = namedFile(location, own) ?? own.path
  if (ownPath !== null && own.isCheckedOut)
    return { path: ownPath, position: line === null ? null : { line, column: column ?? 1 } }
  const path = pair.head.path ?? pair.base.path
  return path === null ? null : { path, position: null }
}

function namedFile(location: string, { files }: Pick<ReportedDocument, 'files'>): string | undefined {
  const [, name = ''] = location.split('/', 2)
  return files?.get(name.replaceAll('~1', '/').replaceAll('~0', '~'))
}

const REACHED_SHOWN = 20

/** `name:line:column` of the finding, in the file it stands in; one at another ref is named with it. */
export function placeText({ side, line, column, location }: PlacedGroup, pair: NamedPair): string {
  const { name, files, isCheckedOut } = pair[side]
  const held = isCheckedOut === undefined ? undefined : namedFile(location, { files })
  const ref = isCheckedOut === true ? '' : name.slice(0, name.indexOf(':') + 1)
  const file = held === undefined ? name : `${ref}${held}`
  return printable(line === null ? file : `${file}:${line}:${column ?? 1}`)
}

/** `METHOD /path` of operations and names of tools. */
export function reachedNames({ operations, tools }: Pick<ReportGroup, 'operations' | 'tools'>): readonly string[] {
  return [...operations.map(({ method, path }) => `${method} ${path}`), ...tools].map(printable)
}

/** The change and what it reaches, when that is little: enough to distinguish it from its neighbours in a list of titles. */
export function titleText(group: ReportGroup): string {
  const [first, ...rest] = reachedNames(group)
  const message = printable(group.message)
  if (first === undefined || (rest.length === 0 && message.includes(`\`${first}\``))) return message
  return `${message} (${rest.length === 0 ? first : `${rest.length + 1} places`})`
}

export function detailLines(group: ReportGroup, pair: ReportedPair): readonly string[] {
  const names = reachedNames(group)
  const rest = names.length - REACHED_SHOWN
  const shown = names.slice(0, REACHED_SHOWN).join(', ')
  const advice = group.level === 'info' ? [] : [`Why: ${printable(group.explanation)}`, `Fix: ${printable(group.fix)}`]
  return [
    `At: ${placeText(group, pair)} ${printable(group.location || '/')}`,
    ...advice,
    ...(names.length === 0 ? [] : [`Reaches: ${shown}${rest > 0 ? ` and ${rest} more` : ''}`]),
  ]
}

/** What every form of a report is written from. */
export interface ReportContext {
  readonly report: DiffReport
  readonly documents: ReportedPair
  /** Empty where there is no ignore list. */
  readonly ignored: readonly IgnoredGroup[]
  /** The level at which the command fails; null: at none. */
  readonly failOn: Level | null
  readonly isColoured: boolean
  /** Of this program. */
  readonly version: string
}

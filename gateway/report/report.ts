/** The forms in which a comparison is written, for people and for other tools: one row each. */
import { renderGitHub } from './github.ts'
import type { IgnoredGroup } from './ignore-list.ts'
import { renderJUnit } from './junit.ts'
import { renderMarkdown } from './markdown.ts'
import type { ReportContext } from './annotation.ts'
import { renderSarif } from './sarif.ts'
import { renderText } from './text.ts'

export const REPORT_FORMS = ['text', 'json', 'markdown', 'junit', 'github', 'sarif'] as const
export type ReportForm = (typeof REPORT_FORMS)[number]

const RENDERERS: Readonly<Record<ReportForm, (context: ReportContext) => string>> = {
  text: ({ report, documents, isColoured, ignored }) =>
    `${renderText(report, { isColoured, documents })}${ignoredLine(ignored)}`,
  json: ({ report, ignored }) =>
    `${JSON.stringify(ignored.length === 0 ? report : { ...report, ignored: ignored.map(ignoredView) }, null, 2)}\n`,
  markdown: ({ report, ignored }) => `${renderMarkdown(report)}${ignoredLine(ignored)}`,
  junit: renderJUnit,
  github: renderGitHub,
  sarif: renderSarif,
}

export function renderReport(form: ReportForm, context: ReportContext): string {
  return RENDERERS[form](context)
}

function ignoredLine(ignored: readonly IgnoredGroup[]): string {
  const count = ignored.reduce((sum, { fingerprints }) => sum + fingerprints.length, 0)
  return count === 0 ? '' : `\n${count} ${count === 1 ? 'finding is' : 'findings are'} ignored.\n`
}

function ignoredView({ group, fingerprints, reason, place }: IgnoredGroup): object {
  return { reason, entry: place, ...group, fingerprints }
}

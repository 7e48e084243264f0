/**
 * Comparisons as a Code Quality report of GitLab, which shows each finding at its place in the merge request.
 * https://docs.gitlab.com/ci/testing/code_quality/#code-quality-report-format
 */
import type { Level } from '../../engine/internal.ts'
import { sha256Hex } from '../runtime/hash.ts'
import { annotationOf, titleText, type ReportContext } from './annotation.ts'

const SEVERITIES: Readonly<Record<Level, string>> = { breaking: 'critical', dangerous: 'major', info: 'info' }

/** One list for all comparisons. A finding without a file is at none, and stays in the other reports. */
export function renderCodeQuality(contexts: readonly ReportContext[]): string {
  const rows = contexts.flatMap(({ report, documents }) =>
    report.groups.flatMap((group) => {
      const place = annotationOf(group, documents)
      if (place === null) return []
      return [
        {
          description: titleText(group),
          check_name: group.rule,
          // The same change has the same one in later pipelines, also when its line moved.
          fingerprint: sha256Hex(JSON.stringify([place.path, group.id])),
          severity: SEVERITIES[group.level],
          location: { path: place.path, lines: { begin: place.position?.line ?? 1 } },
        },
      ]
    }),
  )
  return `${JSON.stringify(rows, null, 2)}\n`
}

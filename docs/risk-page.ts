/** The page about the risk score, made from the factors that compute it. */
import { RISK_FACTORS, SCORER_VERSION } from '../engine/decide/risk.ts'
import { page, table } from './reference-pages.ts'
import type { GeneratedFile } from './validators.ts'

export function riskPage(): GeneratedFile {
  const rows = RISK_FACTORS.flatMap(({ id, weight, meaning, scale }) =>
    scale.map(({ condition, share }, index) => [
      index === 0 ? `\`${id}\`` : '',
      index === 0 ? String(weight) : '',
      index === 0 ? meaning : '',
      condition,
      `${share} %`,
    ]),
  )
  return page(
    'docs/risk.md',
    'Risk score',
    `\`risk_score\` is an integer from 0 to 100: the sum of the factors below, each its weight times the share of the first row that applies, rounded; no row applies, no points. The answer shows the points of every factor in \`risk_factors\`. The score informs; it never decides, and it never relaxes a decision. This is \`${SCORER_VERSION}\`: \`scorer_version\` changes whenever a weight or a step does, and with it every verdict fingerprint.`,
    table(['factor', 'weight', 'meaning', 'when', 'share'], rows),
  )
}

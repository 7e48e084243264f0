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
    `\`risk_score\` is an integer from 0 to 100. It is the sum of the factors below. A factor gives its weight times the share of the first row that applies, rounded. If no row applies, it gives no points. \`risk_factors\` shows the points of every factor. The score informs. It never decides, and never relaxes a decision. This is \`${SCORER_VERSION}\`. \`scorer_version\` changes with every weight or step, and with it every verdict fingerprint.`,
    table(['factor', 'weight', 'meaning', 'when', 'share'], rows),
  )
}

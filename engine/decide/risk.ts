/**
 * The risk score: 0 to 100, the sum of five published factors (docs/risk.md). It informs; it never decides and never relaxes a
 * decision. Steps, not curves: every machine computes the same integer.
 */
import { LEVELS, type Level } from '../model/finding.ts'
import type { FindingJudgement } from './judgement.ts'
import { counted } from './text.ts'
import type { RiskFactor } from './verdict.ts'

/** Identity of the scoring, bound into the verdict fingerprint: changes whenever a weight or a step does. */
export const SCORER_VERSION = 'preflight-risk/1.0'

interface RiskFacts {
  readonly judgements: readonly FindingJudgement[]
  readonly patterns: readonly string[]
  readonly evidenceQuality: 'LOW' | 'MEDIUM' | 'HIGH'
}

interface Measure {
  /** Share of the weight that counts, in percent. */
  readonly share: number
  readonly because: string
}

interface ScaleRow {
  readonly condition: string
  /** Percent of the weight. */
  readonly share: number
}

/** Rows `[at least, share]`, greatest first. */
type RiskSteps = readonly (readonly [atLeast: number, share: number])[]

const SEVERITY_STEPS: Readonly<Record<Level, RiskSteps>> = {
  breaking: [
    [20, 100],
    [5, 95],
    [2, 90],
    [1, 85],
  ],
  dangerous: [
    [5, 60],
    [1, 50],
  ],
  info: [[1, 5]],
}
const REACH_STEPS: RiskSteps = [
  [101, 100],
  [21, 80],
  [6, 60],
  [2, 40],
  [1, 20],
]
const QUALITY_SHARE = { LOW: 100, MEDIUM: 50, HIGH: 0 } as const

const AGENT_SHARES = { breaks: 100, changes: 60 } as const

/** The steps in words: what counts, and how much of the weight. */
function scaleOf(steps: RiskSteps, what: string): readonly ScaleRow[] {
  return steps.map(([atLeast, share]) => ({ condition: `${atLeast} or more ${what}`, share }))
}

interface Factor {
  readonly id: string
  readonly weight: number
  readonly meaning: string
  /** Published beside it: the first row that applies counts. */
  readonly scale: readonly ScaleRow[]
  readonly measure: (facts: RiskFacts) => Measure
}

/** The factors and their weights, as published; the weights sum to 100. */
export const RISK_FACTORS: readonly Factor[] = [
  {
    id: 'severity',
    weight: 60,
    meaning: 'The worst level found, and how many distinct changes have it.',
    scale: LEVELS.flatMap((level) => scaleOf(SEVERITY_STEPS[level], `${level} changes`)),
    measure: severity,
  },
  {
    id: 'reach',
    weight: 14,
    meaning: 'How many operations and tools the breaking and dangerous changes reach.',
    scale: scaleOf(REACH_STEPS, 'operations or tools'),
    measure: reachMeasure,
  },
  {
    id: 'agent',
    weight: 12,
    meaning: 'Whether the tools or instructions of an agent changed.',
    scale: [
      { condition: 'a breaking change of a tool', share: AGENT_SHARES.breaks },
      { condition: 'a dangerous change of a tool, or a TOOL_ or AGENT_ pattern', share: AGENT_SHARES.changes },
    ],
    measure: agent,
  },
  {
    id: 'security',
    weight: 8,
    meaning: 'Whether authentication, scopes or the trust in a tool changed.',
    scale: [{ condition: 'an AUTH_ or poisoning pattern, or a breaking or dangerous security rule', share: 100 }],
    measure: securityRisk,
  },
  {
    id: 'evidence',
    weight: 6,
    meaning: 'How much could not be analysed.',
    scale: Object.entries(QUALITY_SHARE).map(([quality, share]) => ({
      condition: `evidence quality ${quality}`,
      share,
    })),
    measure: evidence,
  },
]

export function riskFactors(facts: RiskFacts): readonly RiskFactor[] {
  return RISK_FACTORS.map(({ id, weight, measure }) => {
    const { share, because } = measure(facts)
    return { id, weight, points: Math.round((weight * share) / 100), because }
  })
}

export function riskScore(factors: readonly RiskFactor[]): number {
  return Math.min(
    100,
    factors.reduce((sum, { points }) => sum + points, 0),
  )
}

function stepValue(steps: RiskSteps, value: number): number {
  return steps.find(([atLeast]) => value >= atLeast)?.[1] ?? 0
}

function severity({ judgements }: RiskFacts): Measure {
  for (const level of ['breaking', 'dangerous', 'info'] as const) {
    const changes = judgements.filter(({ group }) => group.level === level).length
    if (changes > 0)
      return { share: stepValue(SEVERITY_STEPS[level], changes), because: counted(changes, `${level} change`) }
  }
  return { share: 0, because: 'no change found' }
}

function reachMeasure({ judgements }: RiskFacts): Measure {
  const places = new Set(
    risky(judgements).flatMap(({ group }) =>
      group.occurrences.map(({ operation, tool }) => JSON.stringify([operation?.method, operation?.path, tool])),
    ),
  )
  return { share: stepValue(REACH_STEPS, places.size), because: `${counted(places.size, 'place')} reached` }
}

function agent({ judgements, patterns }: RiskFacts): Measure {
  const atTools = risky(judgements).filter(({ occurrence }) => occurrence.tool !== null)
  if (atTools.some(({ group }) => group.level === 'breaking'))
    return { share: AGENT_SHARES.breaks, because: 'a tool breaks' }
  const named = patterns.filter((name) => /^(TOOL|AGENT)_/.test(name))
  if (atTools.length > 0 || named.length > 0)
    return { share: AGENT_SHARES.changes, because: named[0] ?? 'a tool changed' }
  return { share: 0, because: 'no tool is touched' }
}

function securityRisk({ judgements, patterns }: RiskFacts): Measure {
  const named = patterns.find((name) => /^AUTH_|POISONING/.test(name))
  if (named !== undefined) return { share: 100, because: named }
  const rule = risky(judgements).find(({ group }) => /(^|-)(security|auth|oauth|scopes?)(-|$)/.test(group.rule))
  return rule ? { share: 100, because: rule.group.rule } : { share: 0, because: 'no security change found' }
}

function evidence({ evidenceQuality }: RiskFacts): Measure {
  return { share: QUALITY_SHARE[evidenceQuality], because: `evidence quality ${evidenceQuality}` }
}

function risky(judgements: readonly FindingJudgement[]): readonly FindingJudgement[] {
  return judgements.filter(({ group }) => group.level !== 'info')
}

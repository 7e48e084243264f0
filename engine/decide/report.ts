/** The decision as text for people: the summary of the envelope and the human report. No program branches on it. */
import type { Decision } from '../model/decision.ts'
import { ENVELOPE_BOUNDS } from './envelope-vocabulary.ts'
import type { NextAction, Reason } from './envelope-members.ts'
import type { FindingJudgement } from './judgement.ts'
import { findingWords } from './reason-lists.ts'
import { clip, counted } from './text.ts'
import type { HumanReport, SeveritySummary } from './verdict.ts'

const HIGHLIGHTS = 10
const MAX_TEXT = 500

export interface ReportFacts {
  readonly decision: Decision
  readonly counts: SeveritySummary
  readonly leading: Reason | null
  /** Strictest first. */
  readonly judgements: readonly FindingJudgement[]
  readonly degraded: readonly Reason[]
  readonly nextActions: readonly NextAction[]
}

/** The decision and what it rests on, in one line. */
export function summaryLine(facts: ReportFacts): string {
  return clip(`${facts.decision}: ${findingsLine(facts)}`, ENVELOPE_BOUNDS.summary)
}

/** What was found, without the decision: an analysis is never permission, so its report must not read like one. */
function findingsLine({ counts, leading, degraded, judgements: [worst] }: ReportFacts): string {
  const { breaking, dangerous, info } = counts
  const found =
    breaking + dangerous + info === 0
      ? 'no change found'
      : [
          breaking > 0 && `${breaking} breaking`,
          dangerous > 0 && `${dangerous} dangerous`,
          info > 0 && counted(info, 'other finding'),
        ]
          .filter(Boolean)
          .join(', ')
  const incomplete = degraded.length > 0 ? '; the analysis is not complete' : ''
  return `${found}${incomplete}${leading ? `: ${withFinding(leading, worst)}` : ''}`
}

/** The reason of a rule about the whole change set names no finding: the strictest one follows it. */
function withFinding({ message }: Reason, worst: FindingJudgement | undefined): string {
  const words = worst === undefined || worst.group.level === 'info' ? '' : findingWords(worst)
  return message.includes(words) ? message : `${message.replace(/\.$/, '')}; change: ${words}`
}

export function humanReport(facts: ReportFacts): HumanReport {
  const breaking = facts.judgements.filter(({ group }) => group.level === 'breaking')
  const fixes = facts.judgements
    .filter(({ group }) => group.level !== 'info')
    .map(({ group }) => clip(group.fix, MAX_TEXT))
  return {
    summary: clip(findingsLine(facts), MAX_TEXT),
    breaking_highlights: breaking.slice(0, HIGHLIGHTS).map((judgement) => clip(findingWords(judgement), MAX_TEXT)),
    suggestions: [...new Set(fixes)].slice(0, HIGHLIGHTS),
    next_steps: facts.nextActions.map(({ instruction }) => instruction),
  }
}

/** The page about named patterns, made from the tables that detect them. */
import { AGENT_PATTERNS } from '../engine/patterns/agent.ts'
import { GOVERNANCE_PATTERNS } from '../engine/patterns/governance.ts'
import { page, table } from './reference-pages.ts'
import type { GeneratedFile } from './validators.ts'

export function patternsPage(): GeneratedFile {
  const governance = GOVERNANCE_PATTERNS.map(({ name, consequence, severity, hasSide }) => [
    `\`${name}\``,
    consequence,
    [severity.breaking, severity.dangerous, severity.info].join(' / '),
    hasSide ? 'request or response' : '',
  ])
  const agent = AGENT_PATTERNS.map(({ name, meaning, ruleId }) => [`\`${name}\``, meaning, `\`${ruleId}\``])
  return page(
    'docs/patterns.md',
    'Patterns',
    [
      'Patterns are names for kinds of change. They explain a decision and never make one: branch on `execution_action`. Names are only ever added. Every name in `patterns` has a row in `pattern_sources` with its evidence.',
      '## Governance patterns',
      '`source: contract_diff`, `evidence_kind: measured`. Each names findings in `detected_patterns`, by `detected_pattern_indices`. The severity depends on the level of the finding: breaking / dangerous / info.',
      table(['name', 'consequence', 'severity', 'side'], governance),
      '## Agent patterns',
      '`source: agent_heuristic`, `evidence_kind: derived`. Each is derived from the findings in `basis_codes`, by the rule in `rule_id`. If the conditions of a rule change, its version changes.',
    ].join('\n\n'),
    table(['name', 'meaning', 'rule'], agent),
  )
}

/** What contracts are looked for, and read by: the same wherever a change set is derived. */
import type { ScmConfig } from './settings.ts'
import { documentLimits } from '../flow/analyst.ts'
import type { ContractTexts, DerivationTerms } from './derivation.ts'
import { createSelector } from './selector.ts'

export function derivationTerms(config: ScmConfig, texts: ContractTexts): DerivationTerms {
  const { scm } = config
  return {
    selector: createSelector(scm.contracts),
    texts,
    limits: documentLimits(config),
    maxContracts: scm.max_contracts,
  }
}

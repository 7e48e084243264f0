/** What contracts are looked for, and read by: the same wherever a change set is derived. */
import type { Config } from '../config/schema.ts'
import { documentLimits } from '../flow/analyst.ts'
import type { ContractTexts, DerivationTerms } from './derivation.ts'
import { createSelector } from './selector.ts'

export function derivationTerms(config: Pick<Config, 'scm' | 'limits'>, texts: ContractTexts): DerivationTerms {
  const { scm } = config
  return {
    selector: createSelector(scm.contracts),
    texts,
    limits: documentLimits(config),
    maxContracts: scm.max_contracts,
  }
}

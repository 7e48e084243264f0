/** What contracts are looked for, and read by: the same wherever a change set is derived. */
import type { ScmConfig } from './settings.ts'
import { documentLimits } from '../flow/analyst.ts'
import type { DocumentLimits } from '../../engine/internal.ts'
import type { Flow } from '../flow/flow.ts'
import { createSelector, type ContractSelector } from './selector.ts'

/** What looks into contract texts, where a large one holds up nobody. */
export type ContractTexts = Pick<Flow, 'sniff' | 'fileReferences' | 'bundle'>

export interface DerivationTerms {
  readonly selector: ContractSelector
  readonly texts: ContractTexts
  readonly limits: DocumentLimits
  /** Most contract files that are read. */
  readonly maxContracts: number
}

export function derivationTerms(config: ScmConfig, texts: ContractTexts): DerivationTerms {
  const { scm } = config
  return {
    selector: createSelector(scm.contracts),
    texts,
    limits: documentLimits(config),
    maxContracts: scm.max_contracts,
  }
}

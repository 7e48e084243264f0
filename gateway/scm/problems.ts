/** Why a file or a list of files could not be read completely, as reasons that a decision carries. */
import type { Problem } from '../../engine/internal.ts'

export const ARTIFACT_PROBLEMS = {
  notText: (path: string): Problem => ({ code: 'ARTIFACT_UNREADABLE', message: `${path} is not UTF-8 text.` }),
  tooLarge: (path: string, maxBytes: number): Problem => ({
    code: 'ARTIFACT_OVER_LIMIT',
    message: `${path} is longer than ${maxBytes} bytes, or than the platform returns.`,
  }),
  refused: (path: string, words: string): Problem => ({
    code: 'DERIVATION_INCOMPLETE',
    message: `${path} could not be read: ${words}.`,
  }),
  link: (path: string): Problem => ({
    code: 'DERIVATION_INCOMPLETE',
    message: `${path} is a symbolic link to a contract, whose later changes would not be listed there. Put the contract itself there.`,
  }),
  missing: (path: string, commit: string): Problem => ({
    code: 'DERIVATION_INCOMPLETE',
    message: `${path} was not found at ${commit}, though the platform lists it as changed there.`,
  }),
  bothChanged: (path: string): Problem => ({
    code: 'MERGE_RESULT_UNKNOWN',
    message: `Both branches changed ${path} since they diverged, so the result of the merge is unknown. Bring the head branch up to date with its base first.`,
  }),
} as const

export const LISTING_PROBLEMS = {
  incomplete: (why: string): Problem => ({
    code: 'DERIVATION_INCOMPLETE',
    message: `The changed files could not be listed whole: ${why}.`,
  }),
  unavailable: (why: string): Problem => ({
    code: 'DERIVATION_UNAVAILABLE',
    message: `The change set could not be derived: ${why}.`,
  }),
} as const

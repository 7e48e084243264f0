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

/** A contract may come out otherwise than the changes of the head show. */
export const MERGE_PROBLEMS = {
  rebased: (contract: string): Problem => ({
    code: 'MERGE_RESULT_UNKNOWN',
    message: `The base changed ${contract} since both branches diverged, and a rebase repeats the commits of the head one by one, so one of them may undo that. Bring the head branch up to date with its base first, or merge it without a rebase.`,
  }),
  flattened: (): Problem => ({
    code: 'MERGE_RESULT_UNKNOWN',
    message:
      'The head branch has merge commits, and a rebase leaves out what they changed. Merge it without a rebase, or rebase the branch first.',
  }),
  moved: (path: string, contract: string): Problem => ({
    code: 'MERGE_RESULT_UNKNOWN',
    message: `The head changed ${path}, which the base moved or removed, and git may bring that change to ${contract}. Bring the head branch up to date with its base first.`,
  }),
  crossed: (contract: string): Problem => ({
    code: 'MERGE_RESULT_UNKNOWN',
    message: `Both branches have merged parts of each other, so git may take another version of ${contract} than the changes of the head show. Bring the head branch up to date with its base first.`,
  }),
  unlisted: (why: string): Problem => ({
    code: 'MERGE_RESULT_UNKNOWN',
    message: `What git makes of this merge could not be looked up: ${why}. Bring the head branch up to date with its base first.`,
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

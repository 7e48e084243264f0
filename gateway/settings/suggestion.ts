/** "Did you mean", as the engine says it of policies: settings and commands suggest names by the same measure. */
export { misspelled, nearest } from '../../engine/base.ts'

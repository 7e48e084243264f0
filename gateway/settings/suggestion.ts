/** "Did you mean" for settings and commands, with the measure that the engine uses for policies. */
export { misspelled, nearest } from '../../engine/base.ts'

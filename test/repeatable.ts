/**
 * Under CI the random tests draw from one seed, so that a commit gets the same answer in every run. Elsewhere each run
 * draws anew. Loaded before the tests by `npm test`.
 */
import { configureGlobal } from 'fast-check'

if (process.env['CI'] === 'true') configureGlobal({ seed: 20_261_121 })

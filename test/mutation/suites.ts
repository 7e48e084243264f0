/** What is mutated, and which tests have to notice. */

export interface Suite {
  readonly folder: string
  /** File names under the folder that hold no behaviour of their own, each with the reason. */
  readonly left: Readonly<Record<string, string>>
  /** Globs. */
  readonly tests: readonly string[]
}

const SCHEMA = 'a schema: what it says runs as generated code, which npm run check holds against it'

/** Percent of the mutants that some test has to notice, in each suite. */
export const LEAST_SCORE = 85

export const SUITES: readonly Suite[] = [
  {
    folder: 'engine/decide',
    left: {
      'envelope-schema.ts': SCHEMA,
      'envelope-members.ts': SCHEMA,
      'envelope-types.ts': SCHEMA,
      'envelope-conditions.ts': SCHEMA,
    },
    tests: [
      'test/engine/decide/*.test.ts',
      'test/engine/policy/*.test.ts',
      'test/decisions/engine.test.ts',
      'test/engine/pins.test.ts',
    ],
  },
  {
    folder: 'engine/receipts',
    left: { 'claims.ts': SCHEMA },
    tests: ['test/engine/receipts/*.test.ts', 'test/engine/decide/envelope.test.ts', 'test/engine/pins.test.ts'],
  },
]

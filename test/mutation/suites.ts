/** What is mutated, and which tests have to notice. */

export interface Suite {
  readonly folder: string
  /** Only these files of the folder; absent: all. */
  readonly only?: readonly string[]
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
  {
    folder: 'engine/policy',
    left: { 'schema.ts': SCHEMA, 'pack-members.ts': SCHEMA },
    tests: ['test/engine/policy/*.test.ts', 'test/engine/decide/*.test.ts', 'test/decisions/engine.test.ts'],
  },
  {
    folder: 'gateway/enforce',
    left: {},
    tests: [
      'test/gateway/enforcement/receipt-gate.test.ts',
      'test/gateway/enforcement/receipts.test.ts',
      'test/gateway/enforcement/observe.test.ts',
      'test/gateway/enforcement/hold.test.ts',
      'test/gateway/enforcement/break-glass.test.ts',
    ],
  },
  {
    folder: 'gateway/routing',
    only: ['path-ambiguity.ts', 'path-reading.ts', 'target.ts', 'field-name.ts'],
    left: {},
    tests: [
      'test/gateway/wire/path-ambiguity.test.ts',
      'test/gateway/wire/hostile.test.ts',
      'test/gateway/wire/wire.test.ts',
    ],
  },
  {
    folder: 'gateway/upstream',
    only: ['headers.ts', 'sent-request.ts', 'http2-fields.ts'],
    left: {},
    tests: [
      'test/gateway/wire/wire.test.ts',
      'test/gateway/wire/judged-fields.test.ts',
      'test/gateway/wire/http2.test.ts',
    ],
  },
]

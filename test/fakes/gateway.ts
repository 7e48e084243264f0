/** A whole gateway on loopback ports of its own, with a data directory that goes with the test. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Writable } from 'node:stream'
import type { TestContext } from 'node:test'
import { recognisers } from '../../gateway/protocols/lazy-registry.ts'
import { startGateway, type Gateway, type StartOptions } from '../../gateway/main.ts'
import type { Environment } from '../../gateway/settings/environment.ts'
import { createLogger } from '../../gateway/telemetry/log.ts'

export const TEST_KEY = 'pf_test_for_tests_only_0123456789'

export const FREE_PORTS = { proxy: '127.0.0.1:0', api: '127.0.0.1:0', admin: '127.0.0.1:0' }

export interface TestGateway extends Gateway {
  readonly dataDir: string
  /** Lines of the log, parsed. */
  readonly log: readonly Readonly<Record<string, unknown>>[]
}

/** @param config members of the configuration besides listeners and data_dir */
export async function startTestGateway(
  context: Pick<TestContext, 'after'>,
  config: object = {},
  { environment = {}, ...options }: Pick<StartOptions, 'now'> & { readonly environment?: Environment } = {},
): Promise<TestGateway> {
  // Loaded before the first call: what loading costs it is not what these tests are about.
  recognisers()
  const dataDir = mkdtempSync(join(tmpdir(), 'preflight-test-'))
  const log: Readonly<Record<string, unknown>>[] = []
  const gateway = await startGateway(
    {
      value: { listen: FREE_PORTS, data_dir: dataDir, ...config },
      environment: { PREFLIGHT_BOOTSTRAP_KEY: TEST_KEY, ...environment },
    },
    {
      ...options,
      output: devNull(),
      logger: createLogger('info', { write: (line) => void log.push(JSON.parse(line)) }),
    },
  )
  context.after(async () => {
    await gateway.close()
    rmSync(dataDir, { recursive: true, force: true })
  })
  return { ...gateway, dataDir, log }
}

export function devNull(): Writable {
  return new Writable({ write: (_chunk, _encoding, done) => done() })
}

/** The flow of a gateway in a command that works on its data directory: the policy and the receipt key of the configuration. */
import type { BaselinesDeps } from '../baselines/baselines.ts'
import { openSettings } from '../config/live-settings.ts'
import { createFlow } from '../flow/authorize.ts'
import type { Flow } from '../flow/flow.ts'
import { createInputKeeper } from '../flow/input-store.ts'
import { createRecorder } from '../flow/recorder.ts'
import { createMemoryBudget } from '../runtime/memory-budget.ts'
import type { Store } from '../store/store.ts'
import type { EntryFacts } from '../telemetry/decision-log/entry.ts'
import { createLogger } from '../telemetry/log.ts'
import { createMetrics } from '../telemetry/metrics.ts'
import type { Arguments } from './command.ts'
import { placeSource } from './config-option.ts'
import { leave, openExistingRing, withStore } from './data-directory.ts'
import type { CommandIo } from './io.ts'

/** What the parts of a gateway share, opened for one piece of work. */
type LocalParts = FlowParts & { readonly flow: ReturnType<typeof lazyFlow> }

export function withLocalFlow<T>(args: Arguments, io: CommandIo, work: (parts: LocalParts) => Promise<T>): Promise<T> {
  return withStore(args, io, async (store) => {
    const live = openSettings(placeSource(args, io))
    const shared = {
      settings: live.current,
      store,
      metrics: createMetrics(),
      logger: createLogger('error'),
      now: Date.now,
    }
    const flow = lazyFlow(args, io, shared)
    try {
      return await work({ ...shared, flow })
    } finally {
      await flow.close()
    }
  })
}

type FlowParts = Pick<BaselinesDeps, 'metrics' | 'logger' | 'now'> & {
  readonly settings: ReturnType<typeof openSettings>['current']
  readonly store: Store
}

/** Listing baselines needs no key and no flow: the first decision opens both. */
function lazyFlow(args: Arguments, io: CommandIo, parts: FlowParts): Pick<Flow, keyof BaselinesDeps['flow'] | 'close'> {
  let opened: { readonly flow: Flow; readonly close: () => Promise<void> } | null = null
  const open = async (): Promise<Flow> => {
    if (opened !== null) return opened.flow
    const keys = await openExistingRing(args, io)
    const memory = createMemoryBudget()
    const inputs = createInputKeeper({ ...parts, memory })
    const recorder = createRecorder({ ...parts, signer: () => keys.signer() })
    // A decision of a command is one like any other: the gateway takes its entry to the decision log.
    const decisionLog = {
      isOn: true,
      write: async (facts: readonly EntryFacts[]) => {
        for (const one of facts) await leave(parts.store, one)
        return true
      },
    }
    const flow = createFlow({ ...parts, decisionLog, memory, recorder, inputs })
    opened = {
      flow,
      close: async () => {
        await flow.close()
        await inputs.close()
      },
    }
    return flow
  }
  return {
    compare: async (artifact, options) => (await open()).compare(artifact, options),
    fileReferences: async (text) => (await open()).fileReferences(text),
    bundle: async (root, texts, site) => (await open()).bundle(root, texts, site),
    compose: async (baseline, candidate, operations) => (await open()).compose(baseline, candidate, operations),
    analyze: async (request) => (await open()).analyze(request),
    digests: async (artifacts) => (await open()).digests(artifacts),
    authorize: async (request) => (await open()).authorize(request),
    close: async () => opened?.close(),
  }
}

/** The console on the API listener: takes requests under /console, and loads everything else with the first of them. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Serving } from './serving.ts'
import type { ConsoleDeps } from '../visit.ts'

interface Console {
  /** True for the paths of the console. */
  takes(target: string): boolean
  /** Answers; never rejects. */
  serve(request: IncomingMessage, response: ServerResponse): Promise<void>
  /** Ends the streams of open pages. */
  close(): void
}

export function createConsole(deps: ConsoleDeps): Console {
  let loading: Promise<Serving> | null = null
  let loaded: Serving | null = null
  const load = async (): Promise<Serving> => {
    const { createServing } = await import('./serving.ts')
    loaded = createServing(deps)
    return loaded
  }
  return {
    takes: (target) => deps.settings().config.console.enabled && /^\/console(?:[/?]|$)/.test(target),
    async serve(request, response) {
      try {
        loading ??= load()
        await (await loading).serve(request, response)
      } catch (error) {
        loading = null
        deps.logger.error({ event: 'console.request_failed', err: error }, 'console request failed')
        response.destroy()
      }
    },
    close: () => loaded?.close(),
  }
}

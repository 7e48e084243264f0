/** The API listener: accepts requests, passes them to the code that serves them, drains on close. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createHttpListener, drainingEntry, type DrainingEntry } from '../../listen/http-listener.ts'
import { plainEntry, type EntryOf } from '../../network/listen.ts'
import type { ApiDeps } from '../deps.ts'
import type { Serve } from './serving.ts'
import { createRequire } from 'node:module'
import { ENDING } from '../../loading/lazy-engine.ts'
import type * as Serving from './serving.ts'

const require = createRequire(import.meta.url)

let loaded: typeof Serving | null = null

function serving(): typeof Serving {
  return (loaded ??= require(`./serving${ENDING}`))
}

export interface Api extends Pick<DrainingEntry, 'listen' | 'close'> {
  /** Requests in flight. */
  openRequests(): number
}

/** Something else on the listener, with paths of its own. */
interface ListenerService {
  takes(target: string): boolean
  /** Answers; never rejects. */
  serve(request: IncomingMessage, response: ServerResponse): Promise<void>
  /** Ends what it holds open; absent: it holds nothing open. */
  close?(): void
}

/** @param services served instead of the API on their paths */
export function createApi(
  deps: ApiDeps,
  services: readonly ListenerService[] = [],
  entryOf: EntryOf = plainEntry,
): Api {
  let open = 0
  let loaded: Serve | null = null
  const serve: (...asked: Parameters<Serve>) => void = (request, response) => {
    try {
      loaded ??= serving().createServe(deps, () => !entry.isOpen)
    } catch (error) {
      // For example too many open files: the next request tries again.
      deps.logger.error({ event: 'api.load_failed', err: error }, 'API could not be loaded')
      response.destroy()
      return
    }
    void loaded(request, response)
  }
  const headTimeoutMs = deps.settings().config.limits.head_timeout * 1000
  const server = createHttpListener({ headTimeoutMs }, (request, response) => {
    open += 1
    response.once('close', () => {
      open -= 1
    })
    const service = services.find((candidate) => candidate.takes(request.url ?? ''))
    if (service === undefined) serve(request, response)
    else void service.serve(request, response)
  })
  const entry = drainingEntry(server, entryOf)
  return {
    listen: (host, port) => entry.listen(host, port),
    openRequests: () => open,
    close(drainMs) {
      for (const service of services) service.close?.()
      return entry.close(drainMs)
    },
  }
}

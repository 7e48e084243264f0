/** The API listener: accepts requests, passes them to the code that serves them, drains on close. */
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createHttpListener } from '../listen/http-listener.ts'
import { serving } from './lazy-routes.ts'
import { plainEntry, type Entry, type EntryOf } from '../network/listen.ts'
import type { HttpAuthz } from '../ext-authz/http.ts'
import { watchUnusedConnections, type UnusedConnections } from '../listen/unused-connections.ts'
import type { ApiDeps } from './deps.ts'
import type { Serve } from './serving.ts'

export interface Api {
  /** Resolves with the bound address. Rejects with the error of `listen` (EADDRINUSE …). */
  listen(host: string, port: number): Promise<AddressInfo>
  /** Requests in flight. */
  openRequests(): number
  /** Takes no new connection, lets requests in flight finish for `drainMs`, then ends them. */
  close(drainMs: number): Promise<void>
}

/** @param authz answers requests under /authz/; null: ext_authz is off */
export function createApi(deps: ApiDeps, authz: HttpAuthz | null = null, entryOf: EntryOf = plainEntry): Api {
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
    if (authz?.takes(request.url ?? '') === true) void authz.serve(request, response)
    else serve(request, response)
  })
  const entry = entryOf(server)
  const unused = watchUnusedConnections(server)
  return {
    listen: (host, port) => entry.listen(host, port),
    openRequests: () => open,
    close: (drainMs) => close(server, entry, unused, drainMs),
  }
}

async function close(server: Server, entry: Entry, unused: UnusedConnections, drainMs: number): Promise<void> {
  if (!entry.isOpen) return
  const closed = entry.close()
  server.closeIdleConnections()
  unused.close()
  const cut = setTimeout(() => server.closeAllConnections(), drainMs)
  await closed
  clearTimeout(cut)
}

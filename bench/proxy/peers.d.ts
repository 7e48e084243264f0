/** The part of http-proxy 1.18.1 that the bench uses; the package brings no types. */
declare module 'http-proxy-1' {
  import type { Agent, IncomingMessage, ServerResponse } from 'node:http'
  import type { Socket } from 'node:net'

  interface ProxyServer {
    web(request: IncomingMessage, response: ServerResponse): void
    on(
      event: 'error',
      listener: (error: Error, request: IncomingMessage, response: ServerResponse | Socket) => void,
    ): void
  }

  const httpProxy: {
    createProxyServer(options: { readonly target: string; readonly agent: Agent }): ProxyServer
  }
  export default httpProxy
}

/**
 * A server of the oldest HTTP transport of MCP (2024-11-05, HTTP+SSE), as lines: one stream of events from the server, and
 * one POST for each message to it.
 */
import { PassThrough } from 'node:stream'
import { createParser } from 'eventsource-parser'
import { openAgent, request, type Agent } from '../network/undici.ts'
import { LineReader, LONGEST_WRITTEN_LINE } from './lines.ts'
import { notReached } from '../errors/startup-error.ts'
import type { ProgramEnd, WrappedProgram } from './wrapper.ts'

/** @param address of the stream of events @param headers of every request */
export function reachSseServer(address: string, headers: Readonly<Record<string, string>>): WrappedProgram {
  return new SseServer(new URL(address), headers)
}

class SseServer implements WrappedProgram {
  readonly stdout = new PassThrough()
  readonly stdin = new PassThrough()
  readonly ended: Promise<ProgramEnd>
  readonly #address: URL
  readonly #headers: Readonly<Record<string, string>>
  readonly #agent: Agent = openAgent({ headersTimeout: 60_000, bodyTimeout: 0 })
  readonly #closing = new AbortController()
  readonly #endpoint: Promise<URL>
  #named: (endpoint: URL) => void = () => {}
  #order: Promise<void> = Promise.resolve()

  constructor(address: URL, headers: Readonly<Record<string, string>>) {
    this.#address = address
    this.#headers = headers
    this.#endpoint = new Promise((resolve) => {
      this.#named = resolve
    })
    const lines = new LineReader(LONGEST_WRITTEN_LINE, (line) => {
      this.#order = this.#order.then(() => this.#post(line))
    })
    this.stdin.on('data', (chunk: Buffer) => lines.push(chunk))
    this.stdin.on('end', () => this.#closing.abort())
    this.ended = this.#read()
  }

  kill(): void {
    this.#closing.abort()
  }

  async #read(): Promise<ProgramEnd> {
    const { signal } = this.#closing
    try {
      const headers = { ...this.#headers, accept: 'text/event-stream' }
      const answer = await request(this.#address, { dispatcher: this.#agent, method: 'GET', headers, signal })
      if (answer.statusCode !== 200) return endOfProgram(`the server answered HTTP ${answer.statusCode}`)
      const parser = createParser({ onEvent: ({ event, data }) => this.#take(event ?? 'message', data) })
      const decoder = new TextDecoder('utf-8')
      for await (const chunk of answer.body as AsyncIterable<Buffer>)
        parser.feed(decoder.decode(chunk, { stream: true }))
      return endOfProgram('the server closed its stream of events')
    } catch (error) {
      if (signal.aborted) return { exitCode: 0, message: 'the client disconnected' }
      return endOfProgram(notReached('the server', this.#address.href, error).message)
    } finally {
      this.stdout.end()
      void this.#agent.close()
    }
  }

  #take(event: string, data: string): void {
    if (event === 'message') this.stdout.write(`${data.replaceAll(/[\r\n]/g, ' ')}\n`)
    if (event !== 'endpoint') return
    const endpoint = new URL(data, this.#address)
    // Credentials are for the server that was named.
    if (endpoint.origin === this.#address.origin) this.#named(endpoint)
    else this.#closing.abort()
  }

  async #post(line: Buffer): Promise<void> {
    const endpoint = await this.#endpoint
    const headers = { ...this.#headers, 'content-type': 'application/json' }
    try {
      const options = {
        dispatcher: this.#agent,
        method: 'POST',
        headers,
        body: line,
        signal: this.#closing.signal,
      } as const
      const answer = await request(endpoint, options)
      await answer.body.dump()
      if (answer.statusCode >= 400) this.#closing.abort()
    } catch {
      this.#closing.abort()
    }
  }
}

function endOfProgram(message: string): ProgramEnd {
  return { exitCode: 1, message }
}

/** The part of a response that an answer is written to. */
export interface AnswerStream {
  readonly destroyed: boolean
  readonly headersSent: boolean
  readonly writableEnded: boolean
  on(event: 'close', listener: () => void): unknown
  off(event: 'close', listener: () => void): unknown
  once(event: 'drain', listener: () => void): unknown
  /** To be called before `writeHead`. @param headers name, value, name, value … */
  writeInformation(status: number, headers: string[]): unknown
  writeHead(status: number, statusMessage: string, headers: string[]): unknown
  write(chunk: Buffer | string): boolean
  write(chunk: string, encoding: 'latin1'): unknown
  end(body?: Buffer | string): unknown
  addTrailers(trailers: Record<string, string | string[] | undefined>): void
  destroy(): unknown
}

/** The outside of a command line, held in memory: run a command in this process and read what it wrote. */
import { Readable, Writable } from 'node:stream'
import { main } from '../../gateway/cli/main.ts'

export interface Ran {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

export interface RunOptions {
  readonly stdin?: string | Buffer
  readonly environment?: Readonly<Record<string, string>>
  readonly isTerminal?: boolean
}

export async function run(argv: readonly string[], options: RunOptions = {}): Promise<Ran> {
  const stdout = new TextSink()
  const stderr = new TextSink()
  const code = await main(argv, {
    stdin: Readable.from([options.stdin ?? '']),
    stdout,
    stderr,
    environment: options.environment ?? {},
    isTerminal: options.isTerminal ?? false,
  })
  return { code, stdout: stdout.text, stderr: stderr.text }
}

class TextSink extends Writable {
  text = ''

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    this.text += chunk.toString('utf8')
    done()
  }
}

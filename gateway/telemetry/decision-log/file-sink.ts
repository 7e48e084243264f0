/** Appends entries to a file, durable when they count as taken, and begins a new file when one is large. */
import { constants } from 'node:fs'
import { open, rename, rm, type FileHandle } from 'node:fs/promises'
import type { Metrics } from '../metrics.ts'
import { startSinkCounters } from '../alerted-counters.ts'
import { messageOf } from '../../errors/startup-error.ts'
import type { Sink } from '../sinks/sink.ts'

interface FileSinkConfig {
  readonly path: string
  readonly max_bytes: number
  readonly files: number
}

interface WriteGroup {
  readonly text: string
  readonly count: number
  readonly resolve: (isTaken: boolean) => void
}

export function createFileSink(config: FileSinkConfig, metrics: Metrics): Sink {
  return new FileSink(config, metrics)
}

class FileSink implements Sink {
  readonly #name = 'decisions-file'
  readonly #config: FileSinkConfig
  readonly #metrics: Metrics
  #handle: FileHandle | null = null
  #size = 0
  #waiting: WriteGroup[] = []
  #isWriting = false
  #work: Promise<void> = Promise.resolve()
  #fault: string | null = null

  constructor(config: FileSinkConfig, metrics: Metrics) {
    this.#config = config
    this.#metrics = metrics
    startSinkCounters(metrics, this.#name)
    this.#show()
  }

  state() {
    const detail = this.#fault ?? `writing to ${this.#config.path}`
    return { name: this.#name, isWired: this.#fault === null, queued: 0, detail }
  }

  accept(entries: readonly object[]): Promise<boolean> {
    const text = entries.map((entry) => `${JSON.stringify(entry)}\n`).join('')
    return new Promise((resolve) => {
      this.#waiting.push({ text, count: entries.length, resolve })
      if (this.#isWriting) return
      this.#isWriting = true
      this.#work = this.#writeAll()
    })
  }

  async close(): Promise<void> {
    await this.#work
    await this.#handle?.close()
    this.#handle = null
  }

  /** Groups that come while the disk is busy share its next write. */
  async #writeAll(): Promise<void> {
    while (this.#waiting.length > 0) {
      const groups = this.#waiting.splice(0)
      const isTaken = await this.#write(groups.map(({ text }) => text).join(''))
      for (const { count, resolve } of groups) {
        const result = isTaken ? 'acknowledged' : 'refused'
        this.#metrics.count('preflight_sink_events_total', { sink: this.#name, result }, count)
        resolve(isTaken)
      }
    }
    this.#isWriting = false
  }

  async #write(text: string): Promise<boolean> {
    try {
      const bytes = Buffer.from(text)
      if (this.#handle !== null && this.#size > 0 && this.#size + bytes.length > this.#config.max_bytes)
        await this.#rotate()
      this.#handle ??= await this.#open()
      await this.#handle.appendFile(bytes)
      await this.#handle.datasync()
      this.#size += bytes.length
      this.#fault = null
      return true
    } catch (error) {
      this.#fault = messageOf(error)
      await this.#handle?.close().catch(() => {})
      this.#handle = null
      return false
    } finally {
      this.#show()
    }
  }

  async #open(): Promise<FileHandle> {
    const flags = constants.O_APPEND | constants.O_CREAT | constants.O_WRONLY | constants.O_NONBLOCK
    const handle = await open(this.#config.path, flags, 0o600)
    const stats = await handle.stat()
    if (!stats.isFile()) {
      await handle.close()
      throw new Error(`${this.#config.path} is not a file`)
    }
    this.#size = stats.size
    return handle
  }

  async #rotate(): Promise<void> {
    const { path, files } = this.#config
    await this.#handle?.close()
    this.#handle = null
    if (files === 0) await rm(path, { force: true })
    for (let index = files; index > 0; index -= 1) {
      const from = index === 1 ? path : `${path}.${index - 1}`
      await rename(from, `${path}.${index}`).catch((error: unknown) => {
        if (!isMissing(error)) throw error
      })
    }
  }

  #show(): void {
    this.#metrics.set('preflight_sink_wired', { sink: this.#name }, this.#fault === null ? 1 : 0)
  }
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT'
}

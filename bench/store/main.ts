/**
 * Gateways on one PostgreSQL: durable decisions a second by 1, 2, 4 and 8 processes. Also the processor time of the database for
 * each, and the bytes that a decision and a call take. `node bench/store/main.ts [SECONDS]`. docs/scale.md has figures.
 */
import { spawn, type ChildProcess } from 'node:child_process'
import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { startPostgres, type PostgresServer } from '../../test/fakes/postgres-server.ts'

const WRITER = fileURLToPath(new URL('./writer.ts', import.meta.url))
const SECONDS = process.argv[2] ?? '3'
/** Of the clock in /proc. */
const TICKS = 100

interface Answer {
  readonly done: number
  readonly p50: number
  readonly p99: number
}

interface Writer {
  ask(work: string): Promise<Answer>
  end(): Promise<void>
}

async function startWriter(url: string): Promise<Writer> {
  const flags = ['--disable-warning=ExperimentalWarning', WRITER, url, SECONDS]
  const child: ChildProcess = spawn(process.execPath, flags, { stdio: ['pipe', 'pipe', 'inherit'] })
  const { stdin, stdout } = child
  if (stdin === null || stdout === null) throw new Error('the writer has no pipes')
  const lines = createInterface({ input: stdout })[Symbol.asyncIterator]()
  const next = async (): Promise<Answer> => JSON.parse(String((await lines.next()).value))
  await next()
  return {
    ask: (work) => {
      stdin.write(`${work}\n`)
      return next()
    },
    end: async () => {
      const exited = new Promise((resolve) => child.once('exit', resolve))
      stdin.end('end\n')
      await exited
    },
  }
}

/** Seconds of the processor that all processes of the server have used. */
function processorSeconds({ folder }: PostgresServer): number {
  let ticks = 0
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    try {
      if (!readlinkSync(join('/proc', pid, 'cwd')).startsWith(folder)) continue
      const fields =
        readFileSync(join('/proc', pid, 'stat'), 'utf8')
          .split(') ')[1]
          ?.split(' ') ?? []
      ticks += Number(fields[11]) + Number(fields[12])
    } catch {
      // It ended meanwhile.
    }
  }
  return ticks / TICKS
}

async function bytesOf(server: PostgresServer, database: string): Promise<Readonly<Record<string, number>>> {
  const rows = await server.sql(
    `SELECT r.name, sum(pg_total_relation_size(c.oid))::float8 AS bytes
     FROM (VALUES ('decisions'), ('ledger_journal'), ('supersession_heads'), ('interceptions')) r (name)
     JOIN pg_class c ON c.relkind = 'r' AND (c.relname = r.name OR c.relname LIKE r.name || '\\_2%')
     GROUP BY r.name`,
    database,
  )
  return Object.fromEntries(rows.map(({ name, bytes }) => [String(name), Number(bytes)]))
}

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0)
const round = (value: number, digits = 1): number => Number(value.toFixed(digits))

async function measure(server: PostgresServer, gateways: number): Promise<object> {
  const url = await server.database()
  const database = new URL(url).pathname.slice(1)
  const writers = await Promise.all(Array.from({ length: gateways }, () => startWriter(url)))
  const single = await writers[0]?.ask('alone')
  const before = await bytesOf(server, database)
  const [used, begin] = [processorSeconds(server), performance.now()]
  const answers = await Promise.all(writers.map((writer) => writer.ask('decisions')))
  const seconds = (performance.now() - begin) / 1000
  const processor = processorSeconds(server) - used
  const done = sum(answers.map((answer) => answer.done))
  const after = await bytesOf(server, database)
  const grown = (name: string) => (after[name] ?? 0) - (before[name] ?? 0)
  const callsFrom = processorSeconds(server)
  await Promise.all(writers.map((writer) => writer.ask('calls')))
  const callProcessor = processorSeconds(server) - callsFrom
  const last = await bytesOf(server, database)
  const callBytes = sum(['interceptions', 'ledger_journal'].map((name) => (last[name] ?? 0) - (after[name] ?? 0)))
  await Promise.all(writers.map((writer) => writer.end()))
  return {
    gateways,
    'decisions/s': Math.round(done / seconds),
    'p50 ms alone': round(single?.p50 ?? 0, 2),
    'p99 ms under load': round(Math.max(...answers.map(({ p99 }) => p99))),
    'database CPU ms/decision': round((processor * 1000) / done, 3),
    'bytes/decision': Math.round(sum(['decisions', 'ledger_journal', 'supersession_heads'].map(grown)) / done),
    'database CPU ms/call': round((callProcessor * 1000) / (5000 * gateways), 3),
    'bytes/call': Math.round(callBytes / (5000 * gateways)),
  }
}

const server = await startPostgres({ max_connections: '200' })
const rows: object[] = []
for (const gateways of [1, 2, 4, 8]) rows.push(await measure(server, gateways))
console.table(rows)
await server.stop()

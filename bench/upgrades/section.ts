/**
 * Upgrades through the gateway's own exchange and tunnels, and through http-proxy-3 with the same connector, both without
 * a verdict. Measures CPU of an upgrade and of a message, memory of open connections, and what aborted clients leave open.
 * The proxies alternate over several rounds. Ratios are medians of the ratios within one round.
 */
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { portOf, startChild, usageOf, type Child } from '../child.ts'
import { table, type Section } from '../report.ts'
import type { LoadOrder } from './load.ts'

const ROUNDS = 5
const UPGRADES = 2000
const MESSAGES = 20_000
const OPEN = 1000
const ABORTS = 200
/** Enough for the compiler to have done with the path of an upgrade. */
const WARMUP = 1000
/** Longer than either way needs to close a connection that it means to close. */
const REST_MILLISECONDS = 2000

const PEERS = { 'dispatch and tunnels': 'dispatch-peer.ts', 'http-proxy-3': 'package-peer.ts' } as const
type PeerName = keyof typeof PEERS
const NAMES: readonly PeerName[] = ['dispatch and tunnels', 'http-proxy-3']

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN
}

async function messageOf(child: Child, wanted: string): Promise<void> {
  const [message]: unknown[] = await once(child.process, 'message')
  if (message !== wanted) throw new Error(`${String(message)} came in place of ${wanted}`)
}

/** @returns what the peer used from the start of the measured part to its end; connections of the load are still open */
async function underLoad(
  peer: Child,
  order: Omit<LoadOrder, 'port'>,
): Promise<{ readonly cpu: number; readonly rss: number; readonly end: () => Promise<void> }> {
  const load = await startChild('upgrades/load.ts', { ...order, port: portOf(peer) } satisfies LoadOrder)
  // Its first message reports the end of the warm-up.
  const before = usageOf(peer.pid)
  await messageOf(load, 'done')
  const after = usageOf(peer.pid)
  if (before === null || after === null) throw new Error('a peer has ended')
  const end = async (): Promise<void> => {
    load.process.send('end')
    await load.ended()
  }
  return { cpu: after.cpu - before.cpu, rss: after.rss - before.rss, end }
}

async function cpuOf(peer: Child, phase: LoadOrder['phase'], count: number): Promise<number> {
  const { cpu, end } = await underLoad(peer, { phase, count, warmup: WARMUP })
  await end()
  return (cpu * 1e6) / count
}

async function socketsOf(upstream: Child): Promise<number> {
  const answer = once(upstream.process, 'message')
  upstream.process.send('count')
  const [message]: unknown[] = await answer
  return typeof message === 'object' && message !== null && 'sockets' in message ? Number(message.sockets) : Number.NaN
}

async function socketsAfterAborts(peer: Child, upstream: Child): Promise<number> {
  const before = await socketsOf(upstream)
  const { end } = await underLoad(peer, { phase: 'aborts', count: ABORTS, warmup: 0 })
  await end()
  await sleep(REST_MILLISECONDS)
  return (await socketsOf(upstream)) - before
}

/** Of a process that has done upgrades before, so that code and buffers of the first ones do not count. */
async function memoryOfOpen(name: PeerName, origin: string): Promise<number> {
  const peer = await startChild(`upgrades/${PEERS[name]}`, origin)
  try {
    await cpuOf(peer, 'upgrades', WARMUP)
    const { rss, end } = await underLoad(peer, { phase: 'open', count: OPEN, warmup: 0 })
    await end()
    return rss / 2 ** 20
  } finally {
    await peer.stop()
  }
}

type Measured = Readonly<Record<'upgrade' | 'message' | 'memory' | 'left', number>>
type Round = Readonly<Record<PeerName, Measured>>

async function measure(name: PeerName, peer: Child, upstream: Child): Promise<Measured> {
  return {
    upgrade: await cpuOf(peer, 'upgrades', UPGRADES),
    message: await cpuOf(peer, 'messages', MESSAGES),
    memory: await memoryOfOpen(name, `http://127.0.0.1:${portOf(upstream)}`),
    left: await socketsAfterAborts(peer, upstream),
  }
}

const ROWS: readonly (readonly [keyof Measured, string, number])[] = [
  ['upgrade', 'CPU of an upgrade: open, one echo, close (µs)', 0],
  ['message', 'CPU of a message of 1 KiB and its echo (µs)', 1],
  ['memory', `resident memory of ${OPEN} open connections (MiB)`, 1],
  ['left', `upstream sockets left of ${ABORTS} clients that went away before the switch`, 0],
]

function medianOf(rounds: readonly Round[], name: PeerName, member: keyof Measured): number {
  return median(rounds.map((round) => round[name][member]))
}

function ratioOf(rounds: readonly Round[], member: keyof Measured): number {
  return median(rounds.map((round) => round['dispatch and tunnels'][member] / round['http-proxy-3'][member]))
}

function report(rounds: readonly Round[]): string {
  const rows = ROWS.map(([member, what, digits]) => {
    const values = NAMES.map((name) => medianOf(rounds, name, member).toFixed(digits))
    return [what, ...values, member === 'left' ? '' : ratioOf(rounds, member).toFixed(2)]
  })
  return table(['', ...NAMES, 'ratio'], rows)
}

export async function upgradesSection(): Promise<Section> {
  const upstream = await startChild('upgrades/upstream.ts')
  const origin = `http://127.0.0.1:${portOf(upstream)}`
  const ours = await startChild(`upgrades/${PEERS['dispatch and tunnels']}`, origin)
  const theirs = await startChild(`upgrades/${PEERS['http-proxy-3']}`, origin)
  try {
    const rounds: Round[] = []
    for (let index = 0; index < ROUNDS; index += 1) {
      rounds.push({
        'dispatch and tunnels': await measure('dispatch and tunnels', ours, upstream),
        'http-proxy-3': await measure('http-proxy-3', theirs, upstream),
      })
    }
    const about = `${UPGRADES} upgrades and ${MESSAGES} messages a round from 16 clients, in turns, medians of ${ROUNDS} rounds; both forward without judging.`
    return {
      markdown: `${about}\n\n${report(rounds)}`,
      checks: [
        { threshold: 'upgrades_cpu', measured: ratioOf(rounds, 'upgrade') },
        { threshold: 'upgrades_left', measured: medianOf(rounds, 'dispatch and tunnels', 'left') },
      ],
    }
  } finally {
    await Promise.all([upstream, ours, theirs].map((child) => child.stop()))
  }
}

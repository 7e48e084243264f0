/** The clients of this section, on raw sockets: one phase a process, its end reported by a message. */
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { childArgument, sendToParent } from '../child.ts'

/** What the clients do. `count` is of upgrades, of messages, or of connections. */
export type Phase = 'upgrades' | 'messages' | 'open' | 'aborts'

export interface LoadOrder {
  readonly port: number
  readonly phase: Phase
  readonly warmup: number
  readonly count: number
}

function isOrder(value: unknown): value is LoadOrder {
  return typeof value === 'object' && value !== null && 'port' in value && 'phase' in value && 'count' in value
}

const CLIENTS = 16
const MESSAGE = Buffer.alloc(1024, 'm')

function headOf(path: string): string {
  return `GET ${path} HTTP/1.1\r\nHost: bench\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n`
}

async function openTunnel(port: number): Promise<Socket> {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true })
  socket.write(headOf('/'))
  const [head]: unknown[] = await once(socket, 'data')
  if (!String(head).startsWith('HTTP/1.1 101 ')) throw new Error(`no switch: ${String(head)}`)
  return socket
}

function echo(socket: Socket): Promise<void> {
  return new Promise((resolve, reject) => {
    let left = MESSAGE.length
    const onData = (bytes: Buffer): void => {
      left -= bytes.length
      if (left > 0) return
      socket.off('data', onData).off('close', onClose)
      resolve()
    }
    const onClose = (): void => reject(new Error('the tunnel was closed'))
    socket.on('data', onData).on('close', onClose)
    socket.write(MESSAGE)
  })
}

/** Several clients, until that many steps are done. */
async function share(count: number, step: (client: number) => Promise<void>): Promise<void> {
  let begun = 0
  const client = async (_: unknown, index: number): Promise<void> => {
    while (begun < count) {
      begun += 1
      await step(index)
    }
  }
  await Promise.all(Array.from({ length: CLIENTS }, client))
}

async function upgradeOnce(port: number): Promise<void> {
  const socket = await openTunnel(port)
  await echo(socket)
  socket.end()
  if (!socket.closed) await once(socket, 'close')
}

async function abortOnce(port: number): Promise<void> {
  const socket = connect(port, '127.0.0.1')
  socket.write(headOf('/hang'))
  await sleep(100)
  socket.resetAndDestroy()
}

async function run({ port, phase, warmup, count }: LoadOrder): Promise<void> {
  if (phase === 'upgrades') {
    await share(warmup, () => upgradeOnce(port))
    sendToParent('measuring')
    await share(count, () => upgradeOnce(port))
  } else if (phase === 'aborts') {
    sendToParent('measuring')
    await share(count, () => abortOnce(port))
  } else {
    const sockets: Socket[] = []
    const connections = phase === 'open' ? count : CLIENTS
    if (phase === 'open') sendToParent('measuring')
    await share(connections, async () => void sockets.push(await openTunnel(port)))
    for (const socket of sockets) await echo(socket)
    const step = (client: number): Promise<void> => {
      const socket = sockets[client]
      return socket === undefined ? Promise.resolve() : echo(socket)
    }
    if (phase === 'messages') {
      await share(warmup, step)
      sendToParent('measuring')
      await share(count, step)
    }
    sendToParent('done')
    // Held until the parent has looked.
    await once(process, 'message')
    for (const socket of sockets) socket.destroy()
    return process.disconnect?.()
  }
  sendToParent('done')
  await once(process, 'message')
  process.disconnect?.()
}

const order = childArgument()
if (!isOrder(order)) throw new TypeError('the order is missing')
await run(order)

/**
 * A server in a network namespace of its own: HTTPS on 443, HTTP on 8080, UDP on 443. Prints each thing that reaches it as one
 * line, so that a test sees what left another namespace. Arguments: PEM files of its certificate and key.
 */
import { createSocket } from 'node:dgram'
import { readFileSync } from 'node:fs'
import { createServer as createHttp, type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer as createHttps } from 'node:https'

const [, , certificate = '', key = ''] = process.argv
const report = (what: string): void => void process.stdout.write(`${what}\n`)
const answer =
  (scheme: string) =>
  (request: IncomingMessage, response: ServerResponse): void => {
    report(`${scheme} ${request.method ?? ''} ${request.url ?? ''} from ${request.socket.remoteAddress ?? ''}`)
    response.end('{"kind":"PodList","items":[]}')
  }

const https = createHttps({ cert: readFileSync(certificate), key: readFileSync(key) }, answer('https'))
const http = createHttp(answer('http'))
const udp = createSocket('udp6', (bytes) => report(`udp ${bytes.toString('utf8').trim()}`))
udp.on('message', (bytes) => report(`udp ${bytes.toString('utf8').trim()}`))
await new Promise<void>((resolve) => https.listen(443, '::', resolve))
await new Promise<void>((resolve) => http.listen(8080, '::', resolve))
await new Promise<void>((resolve) => udp.bind(443, '::', resolve))
report('ready')

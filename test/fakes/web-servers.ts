/** nginx and HAProxy, as Debian packages them: in front of one server, for two readers of the same bytes, or of several. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { until } from './until.ts'
import { freePort } from './listening.ts'

export type WebServer = 'nginx' | 'haproxy'

export interface StartedWebServer {
  /** HTTP/1.1. */
  readonly url: string
  /** Plaintext HTTP/2, by prior knowledge. */
  readonly http2: string
}

interface Places {
  readonly directory: string
  readonly port: number
  readonly http2Port: number
  /** HOST:PORT of the server behind it. */
  readonly target: string
}

const SERVERS: Readonly<
  Record<
    WebServer,
    {
      readonly config: (places: Places) => string
      readonly command: (file: string, directory: string) => readonly string[]
    }
  >
> = {
  nginx: {
    command: (file, directory) => ['-c', file, '-p', directory, '-e', join(directory, 'early.log')],
    config: ({ directory, port, http2Port, target }) => {
      const places = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
        (name) => `${name}_temp_path ${join(directory, name)};`,
      )
      return `daemon off; master_process off; pid ${join(directory, 'pid')}; error_log ${join(directory, 'error.log')};
        events {}
        http {
          access_log off; ${places.join(' ')} keepalive_timeout 5s; client_body_timeout 2s; client_header_timeout 2s;
          upstream behind { server ${target}; keepalive 4; }
          server {
            listen 127.0.0.1:${port}; listen 127.0.0.1:${http2Port} http2;
            underscores_in_headers on; ignore_invalid_headers off; merge_slashes off;
            location / {
              proxy_pass http://behind; proxy_http_version 1.1; proxy_request_buffering off; proxy_buffering off;
              proxy_set_header Connection ""; proxy_set_header Host $http_host; proxy_read_timeout 2s;
            }
          }
        }`
    },
  },
  haproxy: {
    command: (file) => ['-f', file, '-db'],
    config: ({ port, http2Port, target }) => `global
  maxconn 200
defaults
  mode http
  timeout connect 2s
  timeout client 2s
  timeout server 2s
  http-reuse always
frontend front
  bind 127.0.0.1:${port}
  bind 127.0.0.1:${http2Port} proto h2
  default_backend behind
backend behind
  server one ${target}
`,
  },
}

/** Null, with the test skipped, where it is not installed; in CI that is a failure. */
export function startWebServer(t: TestContext, kind: WebServer, target: string): Promise<StartedWebServer | null> {
  return startConfigured(t, kind, (places) => SERVERS[kind].config({ ...places, target: new URL(target).host }))
}

/** HAProxy before servers that come and go, as a Service before its pods. It tries no request twice. */
export interface Balancer {
  readonly url: string
  /** The endpoint gets requests from now on. */
  add(name: BalancedServer, url: string): Promise<void>
  /** The endpoint gets no new requests; those in flight go on. */
  remove(name: BalancedServer): Promise<void>
}

export const BALANCED_SERVERS = ['s1', 's2', 's3', 's4'] as const
export type BalancedServer = (typeof BALANCED_SERVERS)[number]

export async function startBalancer(t: TestContext): Promise<Balancer | null> {
  let socket = ''
  const started = await startConfigured(t, 'haproxy', ({ directory, port }) => {
    socket = join(directory, 'control')
    return `global
  maxconn 500
  stats socket ${socket} level admin
defaults
  mode http
  timeout connect 2s
  timeout client 30s
  timeout server 30s
  retries 0
frontend front
  bind 127.0.0.1:${port}
  default_backend behind
backend behind
  balance roundrobin
${BALANCED_SERVERS.map((name) => `  server ${name} 127.0.0.1:1 disabled\n`).join('')}`
  })
  if (started === null) return null
  const control = (command: string): Promise<string> =>
    new Promise((resolve, reject) => {
      const connection = connect(socket, () => connection.write(`${command}\n`))
      let text = ''
      connection.on('data', (bytes: Buffer) => (text += bytes.toString()))
      connection.on('close', () => resolve(text)).on('error', reject)
    })
  return {
    url: started.url,
    async add(name, url) {
      const { hostname, port } = new URL(url)
      await control(`set server behind/${name} addr ${hostname} port ${port}`)
      await control(`set server behind/${name} state ready`)
    },
    async remove(name) {
      await control(`set server behind/${name} state drain`)
    },
  }
}

async function startConfigured(
  t: TestContext,
  kind: WebServer,
  config: (places: Omit<Places, 'target'>) => string,
): Promise<StartedWebServer | null> {
  const binary = ['/usr/sbin', '/usr/local/sbin', '/usr/bin'].map((place) => join(place, kind)).find(existsSync)
  if (binary === undefined) {
    assert.notEqual(process.env['CI'], 'true', `${kind} is to be installed in CI: .ci/run does`)
    t.skip(`${kind} is not installed`)
    return null
  }
  const { command } = SERVERS[kind]
  const directory = mkdtempSync(join(tmpdir(), `preflight-${kind}-`))
  const [port, http2Port] = [await freePort(), await freePort()]
  const file = join(directory, 'server.conf')
  writeFileSync(file, config({ directory, port, http2Port }))
  const child = spawn(binary, command(file, directory), { stdio: ['ignore', 'pipe', 'pipe'] })
  let text = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (bytes: Buffer) => (text += bytes.toString()))
  const ended = new Promise<void>((resolve) => child.on('exit', () => resolve()))
  t.after(async () => {
    child.kill('SIGTERM')
    await ended
    rmSync(directory, { recursive: true, force: true })
  })
  await until(() => {
    assert.equal(child.exitCode, null, `${kind} has ended: ${text}`)
    return isListening(port)
  }, `${kind} listens`)
  return { url: `http://127.0.0.1:${port}`, http2: `http://127.0.0.1:${http2Port}` }
}

function isListening(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = connect(port, '127.0.0.1')
    probe.on('connect', () => resolve(true)).on('error', () => resolve(false))
    probe.on('connect', () => probe.destroy())
  })
}

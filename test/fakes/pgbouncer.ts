/** A real pgbouncer in transaction mode in front of a database, without TLS of its own on the loopback interface. */
import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { chmodSync, chownSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from './postgres-server.ts'

interface Pgbouncer {
  /** The same database and account. */
  readonly url: string
  stop(): Promise<void>
}

function program(): string | null {
  if (existsSync('/usr/sbin/pgbouncer')) return '/usr/sbin/pgbouncer'
  return spawnSync('pgbouncer', ['--version']).status === 0 ? 'pgbouncer' : null
}

/** Why there is none to test with; false: there is one. In CI it has to be there. */
export function pgbouncerMissing(): string | false {
  if (program() !== null) return false
  assert.notEqual(process.env['CI'], 'true', 'pgbouncer is missing; .ci/run installs it')
  return 'pgbouncer is not installed'
}

export async function startPgbouncer(direct: string): Promise<Pgbouncer> {
  const { username, password, port, pathname } = new URL(direct)
  const name = pathname.slice(1)
  const folder = mkdtempSync(join(tmpdir(), 'preflight-pgbouncer-'))
  const own = await freePort()
  const ca = new URL(direct).searchParams.get('sslrootcert') ?? ''
  const secret = decodeURIComponent(password)
  writeFileSync(join(folder, 'users.txt'), `"${username}" "${secret}"\n`)
  writeFileSync(
    join(folder, 'pgbouncer.ini'),
    `[databases]
${name} = host=127.0.0.1 port=${port} dbname=${name} user=${username} password='${secret}'
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${own}
unix_socket_dir =
auth_type = plain
auth_file = ${join(folder, 'users.txt')}
pool_mode = transaction
default_pool_size = 3
server_tls_sslmode = verify-full
server_tls_ca_file = ${ca}
`,
  )
  const nobody = 65_534
  const isRoot = process.getuid?.() === 0
  chmodSync(folder, 0o755)
  if (isRoot) for (const file of ['users.txt', 'pgbouncer.ini']) chownSync(join(folder, file), nobody, nobody)
  const child = spawn(program() ?? '', [join(folder, 'pgbouncer.ini')], {
    stdio: 'ignore',
    ...(isRoot && { uid: nobody, gid: nobody }),
  })
  for (let attempt = 0; !(await answers(own)); attempt += 1) {
    assert.ok(attempt < 200 && child.exitCode === null, 'pgbouncer starts')
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  return {
    url: `postgres://${username}:${password}@127.0.0.1:${own}/${name}?sslmode=disable`,
    stop: async () => {
      const exited = new Promise((resolve) => child.once('exit', resolve))
      if (child.exitCode === null && child.kill('SIGTERM')) await exited
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    socket.on('connect', () => resolve(true)).on('error', () => resolve(false))
    socket.on('connect', () => socket.destroy())
  })
}

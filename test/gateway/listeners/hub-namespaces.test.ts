/**
 * A pod with agent and sidecar, its upstream, a hub and a database, each in a network namespace of its own. One after the other
 * restarts: nothing goes around, nothing passes unjudged, and what was pinned stays pinned. Needs root and iptables.
 */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { testAuthority } from '../../fakes/certificates.ts'
import { petContract } from '../../fakes/http-upstream.ts'
import { changedContract, startHubCluster } from '../../fakes/hub-scene.ts'
import { link, namespaces, resolve, route, type Namespace, type Running } from '../../fakes/network-namespaces.ts'
import { postgresMissing, postgresPrograms } from '../../fakes/postgres-server.ts'
import { hasProgram } from '../../fakes/programs.ts'
import { until } from '../../fakes/until.ts'

const NODE = [process.execPath, '--disable-warning=ExperimentalWarning']
const PROGRAM = [...NODE, join(import.meta.dirname, '../../../gateway/preflight.js')]
const UPSTREAM = join(import.meta.dirname, '../../fakes/namespace-upstream.ts')
const SIDECAR_USER = 61_337
/** `nobody`: agents and the database. */
const AGENT = 65_534
const HOST = 'shop.example'
const HUB = '10.97.2.2'
const DATABASE = '10.97.3.2'

/** Something that runs in a namespace, and restarts. */
interface Restarting {
  stop(): Promise<void>
  start(): Promise<void>
}

async function restarting(
  t: TestContext,
  begin: () => Promise<Running>,
  signal: NodeJS.Signals = 'SIGTERM',
): Promise<Restarting> {
  let running: Running | null = await begin()
  const stop = async (): Promise<void> => {
    await running?.stop(signal)
    running = null
  }
  t.after(stop)
  return {
    stop,
    async start() {
      running = await begin()
    },
  }
}

function startDatabase(t: TestContext, namespace: Namespace, directory: string): Promise<Restarting> {
  const programs = postgresPrograms() ?? ''
  const folder = join(directory, 'database')
  mkdirSync(folder)
  chownSync(folder, AGENT, AGENT)
  const files = join(folder, 'files')
  const options = { uid: AGENT, gid: AGENT, cwd: folder, stdio: 'pipe' } as const
  const initdb = ['-D', files, '-U', 'preflight', '-A', 'trust', '--no-sync', '-E', 'UTF8', '--locale', 'C.UTF-8']
  execFileSync(join(programs, 'initdb'), initdb, options)
  writeFileSync(join(files, 'pg_hba.conf'), 'host all all 10.97.3.0/24 trust\n')
  const settings = [`listen_addresses=${DATABASE}`, `unix_socket_directories=${folder}`].flatMap((one) => ['-c', one])
  const argv = [join(programs, 'postgres'), '-D', files, ...settings]
  // SIGINT: PostgreSQL does not wait for its clients to leave.
  return restarting(t, () => namespace.start(argv, /ready to accept connections/, { uid: AGENT }), 'SIGINT')
}

/** Settings as a file that its program may read. */
function settingsFile(folder: string, config: object): string {
  mkdirSync(folder, { recursive: true })
  chmodSync(folder, 0o777)
  const file = join(folder, 'preflight.json')
  writeFileSync(file, JSON.stringify(config))
  return file
}

test(
  'agent, sidecar, hub and database restart, and the sidecar judges by what the hub keeps or refuses',
  {
    skip: postgresMissing(),
    timeout: 600_000,
  },
  async (t) => {
    for (const program of ['ip', 'iptables', 'ip6tables', 'setpriv', 'curl']) if (!hasProgram(t, program, '-V')) return
    const made = namespaces(t, ['pod', 'up', 'hub', 'db'])
    if (made === null) return
    const [pod, up, hub, db] = made
    assert.ok(pod !== undefined && up !== undefined && hub !== undefined && db !== undefined)
    link(pod, ['10.97.1.2/24', 'fd97:1::2/64'], up, ['10.97.1.1/24', 'fd97:1::1/64'])
    link(pod, ['10.97.2.1/24'], hub, [`${HUB}/24`])
    link(hub, ['10.97.3.1/24'], db, [`${DATABASE}/24`])
    route(pod, 'route', 'add', 'default', 'via', '10.97.1.1')
    resolve(pod, `127.0.0.1 localhost\n10.97.1.1 ${HOST}\n`, '10.97.1.1')
    const directory = mkdtempSync(join(tmpdir(), 'preflight-hub-namespaces-'))
    t.after(() => rmSync(directory, { recursive: true, force: true, maxRetries: 9 }))
    chmodSync(directory, 0o755)
    const cluster = await startHubCluster()
    t.after(() => cluster.close())
    const authority = await testAuthority()
    const file = (name: string, text: string): string => {
      writeFileSync(join(directory, name), text)
      return join(directory, name)
    }
    const leafFiles = async (host: string) => {
      const { cert, key } = await authority.leaf(host)
      return { certificate: file(`${host}.crt`, cert), key: file(`${host}.key`, key) }
    }
    const ca = file('ca.pem', authority.certificate)

    const { certificate, key } = await leafFiles(HOST)
    const upstream = await up.start([...NODE, UPSTREAM, certificate, key], /^ready$/)
    t.after(() => upstream.stop())
    const database = await startDatabase(t, db, directory)
    const keys = join(directory, 'cluster.json')
    copyFileSync(join(cluster.root, 'cluster.json'), keys)
    const hubConfig = settingsFile(join(directory, 'hub'), {
      ...cluster.hubConfig(`${HUB}:15444`, join(directory, 'hub/data')),
      store: { url: `postgres://preflight@${DATABASE}:5432/postgres?sslmode=disable` },
      hub: { tokens: { issuer: 'https://kubernetes.test', keys } },
      tls: { listeners: { hub: await leafFiles(HUB) } },
      log: { level: 'error' },
    })
    const serve = (namespace: Namespace, config: string) => () =>
      namespace.start([...PROGRAM, 'serve', '--config', config], /"event":"ready"/, { uid: SIDECAR_USER })
    const keeper = await restarting(t, serve(hub, hubConfig))

    const contract = join(directory, 'contract.json')
    copyFileSync(petContract(), contract)
    const bundle = join(directory, 'pod/bundle.pem')
    const podConfig = settingsFile(join(directory, 'pod'), {
      tier: 'sidecar',
      listen: {
        proxy: '127.0.0.1:15080',
        api: '127.0.0.1:15081',
        admin: '127.0.0.1:15090',
        transparent: '127.0.0.1:15001',
      },
      data_dir: join(directory, 'pod/data'),
      store: {
        url: `https://${HUB}:15444`,
        hub: {
          token_file: file('token', await cluster.token('team-a', { life: '1h' })),
          ca_file: ca,
          timeout: 5,
          max_age: 1,
        },
      },
      tls: { bundle_file: bundle },
      egress: { allow: ['10.97.1.0/24'] },
      log: { level: 'error' },
      routes: [
        {
          name: 'pets',
          match: { host: HOST },
          protocol: 'http',
          contract: { current: { file: contract }, refresh: 0 },
          tls: { upstream_ca: ca },
        },
      ],
    })
    const sidecar = await restarting(t, serve(pod, podConfig))
    const applied = await pod.run([...PROGRAM, 'redirect', 'apply', '--user', String(SIDECAR_USER)])
    assert.equal(applied.code, 0, applied.stderr)

    /** Each one is a new agent, which reads the bundle when it starts. */
    const status = async (): Promise<string> => {
      const argv = ['--silent', '--max-time', '20', '--output', '/dev/null', '--write-out', '%{http_code}', '--cacert']
      return (await pod.run(['curl', ...argv, bundle, `https://${HOST}/v1/pets`], { uid: AGENT })).stdout
    }
    const isServed = () => until(async () => (await status()) === '200', 'the agent is served', 60_000)
    const refusedMeanwhile = async (what: string): Promise<void> => {
      // A decision is reused for store.in_force_within after the last news of the store.
      await until(async () => (await status()) !== '200', what, 30_000)
      const before = upstream.lines.length
      assert.notEqual(await status(), '200', what)
      assert.equal(upstream.lines.length, before, `${what}: nothing reaches the upstream`)
    }
    const connects = async (uid: number, host: string, port: number): Promise<boolean> =>
      (await pod.run(['timeout', '2', 'bash', '-c', `echo > /dev/tcp/${host}/${port}`], { uid })).code === 0

    await isServed()
    assert.equal(await connects(AGENT, HUB, 15_444), false, 'the agent does not reach the hub')
    assert.equal(await connects(SIDECAR_USER, HUB, 15_444), true)
    for (const uid of [AGENT, SIDECAR_USER])
      assert.equal(await connects(uid, DATABASE, 5432), false, 'nobody in the pod reaches the database')

    await keeper.stop()
    await refusedMeanwhile('without the hub')
    await keeper.start()
    await isServed()
    await database.stop()
    await refusedMeanwhile('without the database')
    await database.start()
    await isServed()

    await sidecar.stop()
    await refusedMeanwhile('without the sidecar')
    // As in a new pod: nothing is left on its disk, and the contract became another one in between.
    rmSync(join(directory, 'pod/data'), { recursive: true })
    const pinned = readFileSync(contract)
    copyFileSync(changedContract(), contract)
    await sidecar.start()
    await refusedMeanwhile('a contract that is not the pinned one')
    writeFileSync(contract, pinned)
    await isServed()
  },
)

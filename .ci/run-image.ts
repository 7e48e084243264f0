/**
 * Runs the unpacked image as a container would: as user 65532, in its own mount, process and network namespace, with a read-only
 * root. Checks that only its volume and /tmp are writable, that it serves, and that SIGTERM ends it with 0. Then the Docker line of
 * docs/ci.md compares the branches of a repository.
 */
import assert from 'node:assert/strict'
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const [, , root = ''] = process.argv
assert.ok(root !== '', 'usage: node .ci/run-image.ts ROOT')
const scratch = mkdtempSync(join(tmpdir(), 'preflight-image-run-'))
const volume = join(scratch, 'data')
mkdirSync(volume, { mode: 0o777 })
const work = join(scratch, 'work')
mkdirSync(work)
const script = join(scratch, 'container.sh')
// The mounts end with the namespace. Arguments after the root: user, working directory, and what runs inside.
writeFileSync(
  script,
  `set -eu
root=$1; user=$2; folder=$3; shift 3
mkdir -p "$root/work"
mount --make-rprivate /
mount --bind "$root" "$root"
mount -t tmpfs -o size=64m,mode=1777 tmpfs "$root/tmp"
mount --bind "${work}" "$root/work"
mount --bind "${volume}" "$root/var/lib/preflight"
chmod 777 "${volume}"
mount -t proc proc "$root/proc"
mount -t tmpfs -o mode=755 tmpfs "$root/dev"
for device in null zero random urandom; do touch "$root/dev/$device"; mount --bind "/dev/$device" "$root/dev/$device"; done
mount -o remount,bind,ro "$root"
ip link set lo up
exec chroot --userspec="$user" --groups= "$root" /usr/bin/env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \\
  HOME=/tmp NODE_ENV=production MALLOC_ARENA_MAX=2 MALLOC_TRIM_THRESHOLD_=16384 MALLOC_TOP_PAD_=16384 MALLOC_MMAP_THRESHOLD_=16384 MALLOC_MMAP_MAX_=8192 \\
  PREFLIGHT_DATA_DIR=/var/lib/preflight PREFLIGHT_PROXY_LISTEN=0.0.0.0:15080 \\
  PREFLIGHT_API_LISTEN=0.0.0.0:15081 PREFLIGHT_ADMIN_LISTEN=0.0.0.0:15090 sh -c 'cd "$1" && shift && exec "$@"' sh "$folder" "$@"
`,
)
const CONTAINER = ['--mount', '--net', '--pid', '--fork', '--kill-child', 'sh', script, root] as const
const inside = (...argv: readonly string[]): readonly string[] => [...CONTAINER, '65532:65532', '/app', ...argv]

function output(...argv: readonly string[]): string {
  const { status, stdout, stderr } = spawnSync('unshare', inside(...argv), { encoding: 'utf8', timeout: 180_000 })
  assert.equal(status, 0, `${argv.join(' ')}: ${stderr}`)
  return stdout.trim()
}

const PETS =
  'openapi: 3.1.0\ninfo: { title: pets, version: 1.0.0 }\npaths:\n  /pets:\n    get: { responses: { "200": { description: Pets. } } }\n'
const ROOT = join(import.meta.dirname, '..')
/** Of the person who runs the Docker line. */
const OWNER = 1000

/** A repository with a branch that removes an operation, and the main branch as it was fetched. */
function makeRepository(): void {
  const git = (...args: readonly string[]): string =>
    execFileSync('git', ['-c', 'user.name=ci', '-c', 'user.email=ci@example.org', ...args], {
      cwd: work,
      encoding: 'utf8',
    })
  git('init', '--quiet', '--initial-branch', 'main')
  for (const [branch, text] of [
    ['main', PETS],
    ['feature', PETS.replace(/\/pets:[^]*/, '/cats: {}\n')],
  ] as const) {
    git('checkout', '--quiet', '-B', branch)
    writeFileSync(join(work, 'pets.yaml'), text)
    git('add', '--all')
    git('commit', '--quiet', '--message', branch)
  }
  git('update-ref', 'refs/remotes/origin/main', 'main')
  execFileSync('chown', ['-R', `${OWNER}:${OWNER}`, work])
}

/** The Docker line of docs/ci.md: what `docker run` does with its options is done by the namespaces here. */
function runDockerLine(user: string) {
  const [line = ''] = /^docker run .*$/m.exec(readFileSync(join(ROOT, 'docs/ci.md'), 'utf8')) ?? []
  const [, folder = '', words = ''] =
    /^docker run --rm --user "\$\(id -u\):\$\(id -g\)" -v "\$PWD:\/work" -w (\/work) preflight-gateway (.*)$/.exec(
      line,
    ) ?? []
  assert.ok(words !== '', `the Docker line of docs/ci.md has another form: ${line}`)
  const [entry = '[]'] = /(?<=^ENTRYPOINT )\[.*\]$/m.exec(readFileSync(join(ROOT, 'Dockerfile'), 'utf8')) ?? []
  const argv: readonly string[] = [...JSON.parse(entry), ...words.split(' ')]
  return spawnSync('unshare', [...CONTAINER, user, folder, ...argv], { encoding: 'utf8', timeout: 180_000 })
}

try {
  assert.equal(output('sh', '-c', 'id -u; id -g'), '65532\n65532')
  const written = output(
    'sh',
    '-c',
    'for place in / /app /etc /usr/local /var/lib /tmp /var/lib/preflight; do touch $place/w 2>/dev/null && echo $place; done; true',
  )
  assert.deepEqual(written.split('\n'), ['/tmp', '/var/lib/preflight'], 'only these are writable')
  assert.match(output('preflight', '--version'), /^\d+\.\d+\.\d+$/)
  assert.match(output('git', '--version'), /^git version/)
  assert.match(output('node', '--version'), /^v24\./)
  // Emulation of another architecture does not reach the kernel's packet filter.
  const isEmulated = output('node', '-p', 'process.arch') !== process.arch
  for (const tool of ['iptables', 'iptables-restore', 'ip6tables-restore'])
    assert.equal(output('sh', '-c', `command -v ${tool}`), `/usr/sbin/${tool}`)
  if (!isEmulated) assert.match(output('iptables', '--version'), /iptables v/)
  assert.match(output('preflight', 'config', 'check'), /: good \(0 routes\)$/)

  makeRepository()
  const compared = runDockerLine(`${OWNER}:${OWNER}`)
  assert.equal(compared.status, 1, compared.stderr)
  assert.match(compared.stdout, /^pets\.yaml\n1 breaking/)
  assert.match(readFileSync(join(work, 'contracts.xml'), 'utf8'), /failures="1"/)
  const stranger = runDockerLine('65532:65532')
  assert.equal(stranger.status, 2, stranger.stdout)
  assert.match(stranger.stderr, /the folder \/work belongs to another user; run preflight as its owner/)

  // The probe runs in the container's network: another program in the same namespaces.
  const serving = spawn(
    'unshare',
    inside(
      'sh',
      '-c',
      `node gateway/preflight.js serve & gateway=$!
node -e "
const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms))
for (let time = 0; time < 1200; time++) {
  const answer = await fetch('http://127.0.0.1:15090/readyz').catch(() => null)
  if (answer !== null && answer.ok) break
  await wait(100)
}
const keys = await (await fetch('http://127.0.0.1:15081/.well-known/jwks.json')).json()
if (keys.keys.length > 0) console.log('serves receipt keys')
"
kill -TERM $gateway; wait $gateway; echo "ended with $?"`,
    ),
  )
  let text = ''
  serving.stdout.on('data', (piece: Buffer) => (text += piece.toString('utf8')))
  serving.stderr.on('data', (piece: Buffer) => (text += piece.toString('utf8')))
  await new Promise((resolve) => serving.once('close', resolve))
  assert.match(text, /serves receipt keys/, text)
  assert.match(text, /ended with 0/, text)
  const how = isEmulated ? ' (by emulation)' : ''
  process.stdout.write(
    `runs as 65532 with a read-only root, serves, ends with 0 on SIGTERM, and runs the Docker line of docs/ci.md${how}\n`,
  )
} finally {
  rmSync(scratch, { recursive: true, force: true })
}

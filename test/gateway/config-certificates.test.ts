/** Certificates and keys that a configuration names: what cannot work is reported on load, not by the first call. */
import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { loadConfig } from '../../gateway/config/load.ts'
import { formatMistake } from '../../gateway/errors/mistake.ts'
import { testAuthority } from '../fakes/certificates.ts'

const directory = mkdtempSync(join(tmpdir(), 'preflight-pem-'))
after(() => rmSync(directory, { recursive: true, force: true }))

function written(name: string, text: string): string {
  const file = join(directory, name)
  writeFileSync(file, text)
  return file
}

function mistakesOf(value: object): string {
  const loaded = loadConfig({ value, environment: {} })
  return loaded.ok ? '' : loaded.problem.map(formatMistake).join('\n')
}

const upstream = (file: string) => ({
  routes: [
    { name: 'a', match: { path: '/' }, upstream: 'https://a.example', protocol: 'mcp', tls: { upstream_ca: file } },
  ],
})
const garbage = written('garbage.pem', 'garbage\n')
const broken = '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n'

test('an authority that may not sign, or does not fit its key, is a mistake that says why', async () => {
  const [given, other] = [await testAuthority(), await testAuthority()]
  const leaf = await given.leaf('a.example')
  const cases: readonly (readonly [string, string, RegExp])[] = [
    [written('leaf.pem', leaf.cert), written('leaf.key', leaf.key), /is not a CA.*tls\.ca\.certificate/],
    [given.file, other.keyFile, /does not belong to the key.*tls\.ca\.certificate/],
    [given.keyFile, given.file, /holds no certificate in PEM.*tls\.ca\.certificate/],
    [given.file, garbage, /holds no private key in PEM.*tls\.ca\.key/],
    [given.file, written('ed25519.key', privateKeyPem('ed25519')), /does not belong to the key/],
  ]
  for (const [certificate, key, expected] of cases)
    assert.match(mistakesOf({ tls: { ca: { certificate, key } } }), expected)
  assert.equal(mistakesOf({ tls: { ca: { certificate: given.file, key: given.keyFile } } }), '')
})

test('an expired authority is reported, and the rest of the gateway starts', async () => {
  const ended = await testAuthority(Date.UTC(1990, 0))
  const value = { tls: { ca: { certificate: ended.file, key: ended.keyFile } } }
  const loaded = loadConfig({ value, environment: {} })
  assert.ok(loaded.ok)
  assert.match(loaded.value.warnings.map(formatMistake).join('\n'), /expired on \d{4}-.*no host can be intercepted/)
})

test('the authorities of an upstream are certificates, each of them', async () => {
  const { certificate, file } = await testAuthority()
  assert.match(mistakesOf(upstream(garbage)), /garbage\.pem holds no certificate in PEM.*routes\[0\]\.tls\.upstream_ca/)
  const second = written('second.pem', `${certificate}\n${broken}`)
  assert.match(mistakesOf(upstream(second)), /certificate 2 of .*second\.pem cannot be read/)
  assert.equal(mistakesOf(upstream(file)), '')
  assert.equal(mistakesOf(upstream(written('both.pem', `# two of them\n${certificate}\n${certificate}`))), '')
})

function privateKeyPem(type: 'rsa' | 'ed25519'): string {
  const pair = type === 'rsa' ? generateKeyPairSync('rsa', { modulusLength: 2048 }) : generateKeyPairSync(type)
  return pair.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
}

const app = (file: string) => ({ scm: { github: { app: { id: '1', key_file: file } } } })

test('the key of a GitHub App is an RSA key', () => {
  assert.match(mistakesOf(app(garbage)), /holds no RSA private key in PEM.*scm\.github\.app\.key_file/)
  assert.match(mistakesOf(app(written('ed.pem', privateKeyPem('ed25519')))), /its type is ed25519/)
  assert.equal(mistakesOf(app(written('rsa.pem', privateKeyPem('rsa')))), '')
})

/** Errors of the runtime as operators read them: one line, with the reason, without numbers and source files of OpenSSL. */
import assert from 'node:assert/strict'
import { createPrivateKey, generateKeyPairSync, X509Certificate } from 'node:crypto'
import { createServer } from 'node:net'
import { test, type TestContext } from 'node:test'
import { connect } from 'node:tls'
import { placedMessage } from '../../gateway/errors/mistake.ts'
import { fetchFailure, messageOf } from '../../gateway/errors/startup-error.ts'
import { listening } from '../fakes/listening.ts'

function thrownBy(run: () => unknown): unknown {
  try {
    run()
  } catch (error) {
    return error
  }
  return assert.fail('it is taken')
}

const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
const PROTECTED = privateKey.export({ type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase: 'secret' })

const FAULTS: readonly (readonly [name: string, run: () => unknown, message: string])[] = [
  ['a key that is no key', () => createPrivateKey('garbage'), 'its content has no known form'],
  ['a key with a passphrase', () => createPrivateKey(PROTECTED), 'a passphrase protects it; write it without one'],
  ['a certificate that is none', () => new X509Certificate('garbage'), 'it has no line -----BEGIN …-----'],
]

for (const [name, run, message] of FAULTS)
  test(`${name}: ${message}`, () => {
    assert.equal(messageOf(thrownBy(run)), message)
  })

/** What ends a TLS connection to the port. */
async function handshakeError(port: number): Promise<Error> {
  return new Promise((resolve) => {
    connect({ port, host: '127.0.0.1', servername: 'localhost' }).on('error', resolve)
  })
}

async function plaintextPort(t: TestContext): Promise<number> {
  const server = createServer((socket) => socket.on('error', () => {}).end('HTTP/1.1 400 Bad Request\r\n\r\n'))
  return Number(new URL(await listening(t, server)).port)
}

test('a handshake that fails has its reason in one line', async (t) => {
  const error = await handshakeError(await plaintextPort(t))
  assert.match(error.message, /\n/, 'Node.js still adds the place in the source')
  assert.equal(messageOf(error), 'wrong version number')
  assert.equal(fetchFailure(new TypeError('fetch failed', { cause: error })), 'wrong version number')
})

test('advice about flags of Node.js is left out', () => {
  const error = new Error(
    'self-signed certificate; if the root CA is installed locally, try running Node.js with --flag',
  )
  assert.equal(messageOf(error), 'self-signed certificate')
})

test('a place in a document stands before the full stop', () => {
  const message = 'The text ends too early.'
  assert.equal(placedMessage({ message }), message)
  assert.equal(placedMessage({ message, line: 2 }), 'The text ends too early (line 2, column 1).')
  assert.equal(
    placedMessage({ message: 'too short', line: 2, column: 5, pointer: '/paths' }),
    'too short (line 2, column 5) at /paths',
  )
})

/** Contracts by URL of the configuration: anywhere inside, and never from where a cloud hands out credentials. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readContractSource } from '../../../gateway/documents/contract-source.ts'
import { INLINE_TEXTS } from '../../fakes/contract-texts.ts'
import { startHttpUpstream } from '../../fakes/http-upstream.ts'

const readContractAddress = (url: string): Promise<string> =>
  readContractSource({ url }, { repository: undefined, texts: INLINE_TEXTS })

test('a contract is read from an address inside, since the operator wrote it', async (t) => {
  const upstream = await startHttpUpstream((_request, response) => void response.end('openapi: 3.1.0\n'))
  t.after(() => upstream.close())
  assert.equal(await readContractAddress(`${upstream.origin}/openapi.yaml`), 'openapi: 3.1.0\n')
})

for (const url of [
  'http://169.254.169.254/latest',
  'http://[fd00:ec2::254]/latest',
  'http://[::ffff:a9fe:a9fe]/latest',
]) {
  test(`${url} is not read`, async () => {
    await assert.rejects(readContractAddress(url), (error: unknown) => {
      assert.ok(error instanceof Error && error.cause instanceof Error)
      assert.match(error.cause.message, /cloud metadata/)
      return true
    })
  })
}

test('a redirect to somewhere else is not followed', async (t) => {
  const upstream = await startHttpUpstream((_request, response) => {
    response.writeHead(302, { location: 'http://169.254.169.254/' }).end()
  })
  t.after(() => upstream.close())
  await assert.rejects(readContractAddress(upstream.origin), /could not be read/)
})

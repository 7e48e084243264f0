/** Reads a contract from where the configuration says it is. Addresses are the operator's, never a caller's. */
import { readFile, stat } from 'node:fs/promises'
import { request } from 'undici'
import type { ContractSource } from '../config/route.ts'
import { GatewayError } from '../errors.ts'

const TIMEOUT_MS = 10_000
const MAX_BYTES = 64 * 1024 * 1024

/** The text of the contract. Rejects with PREFLIGHT_UNDECIDED: a call that rests on it cannot be judged. */
export async function readContractSource(source: ContractSource): Promise<string> {
  try {
    return 'file' in source ? await readFile(source.file, 'utf8') : await download(source.url)
  } catch (error) {
    const place = 'file' in source ? source.file : new URL(source.url).host
    throw new GatewayError('PREFLIGHT_UNDECIDED', `The contract could not be read from ${place}.`, { cause: error })
  }
}

/** True when a file was written after `since` (milliseconds); a URL does not tell. */
export async function isNewer(source: ContractSource, since: number): Promise<boolean> {
  return 'file' in source && (await stat(source.file)).mtimeMs > since
}

async function download(url: string): Promise<string> {
  const { statusCode, body } = await request(url, {
    headers: { accept: 'application/json, application/yaml, text/yaml, */*' },
    signal: AbortSignal.timeout(TIMEOUT_MS),
  })
  if (statusCode !== 200) {
    await body.dump()
    throw new Error(`${url} answered ${statusCode}`)
  }
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of body as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size > MAX_BYTES) throw new Error(`${url} is larger than ${MAX_BYTES} bytes`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

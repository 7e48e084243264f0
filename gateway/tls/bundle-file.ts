/**
 * One file with every authority that an agent beside the gateway trusts: the public ones, and the one of intercepted hosts.
 * Written at the start, and again after a rotation.
 */
import { chmodSync, closeSync, renameSync, writeSync } from 'node:fs'
import { messageOf, StartupError } from '../errors/startup-error.ts'
import { tls } from '../runtime/node-tls.ts'
import { makeTemporaryFile } from '../runtime/regular-file.ts'
import type { Logger } from '../telemetry/log.ts'
import type { Authorities } from './authorities.ts'

interface BundleFileDeps {
  readonly file: string
  readonly authorities: Pick<Authorities, 'bundle'>
  readonly logger: Logger
}

const LOOK_MS = 10_000
/** Agents run as other users. */
const MODE = 0o644

/** Rejects with a StartupError when the file cannot be written. */
export async function startBundleFile({ file, authorities, logger }: BundleFileDeps): Promise<{ stop(): void }> {
  let written = ''
  const write = async (): Promise<void> => {
    const own = await authorities.bundle()
    if (own === written) return
    replaceBundle(file, `${own}${tls().rootCertificates.join('\n')}\n`)
    written = own
  }
  try {
    await write()
  } catch (error) {
    throw new StartupError(`The bundle ${file} (tls.bundle_file) cannot be written: ${messageOf(error)}.`, {
      cause: error,
    })
  }
  const look = (): void => {
    write().catch((error: unknown) =>
      logger.error(
        { event: 'interception.bundle_failed', err: error, file },
        'the bundle of authorities could not be written',
      ),
    )
  }
  const timer = setInterval(look, LOOK_MS).unref()
  return { stop: () => clearInterval(timer) }
}

/** A reader finds the file before or the one after, never a part. */
function replaceBundle(file: string, text: string): void {
  const temporary = `${file}.${process.pid}.tmp`
  const descriptor = makeTemporaryFile(temporary)
  try {
    writeSync(descriptor, text)
  } finally {
    closeSync(descriptor)
  }
  chmodSync(temporary, MODE)
  renameSync(temporary, file)
}

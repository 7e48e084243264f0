/** One file, by an address that answers its bytes: what is no such file, and what there is no reading of. */
import { textFile } from './files.ts'
import type { FileAtCommit } from './platform.ts'
import { ARTIFACT_PROBLEMS } from './problems.ts'
import { ScmError } from './scm-error.ts'
import type { ScmAnswer, ScmTransport } from './transport.ts'

interface RawFile {
  /** From the root of the repository. */
  readonly path: string
  /** At the API, with its query. */
  readonly address: string
  readonly accept: string
  /** Statuses by which the platform says that it does not hand this file out, for its length, say. */
  readonly withheld: readonly number[]
  /** False for what is there and is no file. */
  readonly isFile: (answer: ScmAnswer) => boolean
}

/** @throws ScmError for every other answer than the file, none, and one that is withheld */
export async function rawFile(transport: ScmTransport, file: RawFile): Promise<FileAtCommit> {
  const { path, address, accept, withheld, isFile } = file
  try {
    const answer = await transport.get(address, accept)
    if (answer.status === 404) return { kind: 'absent' }
    if (answer.status !== 200) throw transport.refusal(answer)
    return isFile(answer) ? textFile(path, answer.bytes) : { kind: 'absent' }
  } catch (error) {
    if (!(error instanceof ScmError) || error.status === null || !withheld.includes(error.status)) throw error
    return { kind: 'unreadable', problem: ARTIFACT_PROBLEMS.refused(path, error.message) }
  }
}

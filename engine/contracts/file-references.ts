/** Paths of files in references. */
import { percentDecoded } from '../common/percent-decoding.ts'

/**
 * Resolves a relative path against the path of the file that contains it. A path above the contract's folder begins
 * with `..`. A `$ref` is a URI reference: `my%20schema.yaml` names `my schema.yaml`.
 */
export function joinPath(from: string, to: string): string {
  const steps = from.split('/').slice(0, -1)
  for (const step of percentDecoded(to).split('/')) {
    if (step === '..' && steps.length > 0 && steps.at(-1) !== '..') steps.pop()
    else if (step !== '.' && step !== '') steps.push(step)
  }
  return steps.join('/')
}

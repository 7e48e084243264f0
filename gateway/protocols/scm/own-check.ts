/**
 * The check that the gateway writes at a commit (`scm.checks.name`). Platforms and people let a merge go on by it, so
 * nobody else may write one of its name.
 */
import { fold, trimmed } from '../../routing/path-reading.ts'
import { UnreadableIntent } from './intent.ts'
import { textsIn } from './quick-actions.ts'

/** @param value all that the request states. @throws UnreadableIntent where it names the check of the gateway */
export function refuseOwnCheck(checkName: string, value: unknown): void {
  const own = plainName(checkName)
  if (textsIn(value).some((text) => plainName(text) === own))
    throw new UnreadableIntent(
      `only the gateway writes the check "${checkName}". Give a check of your own another name, or set scm.checks.name.`,
    )
}

/** Bitbucket has ids of fewer characters, and platforms differ in whether case counts. */
function plainName(text: string): string {
  return fold(trimmed(text)).replaceAll(/[^\w-]/g, '-')
}

/**
 * Globs of the configuration that can name nothing, because they are written in another form than the names that they are compared
 * with. What they are meant to name would silently pass unjudged.
 */
import type { LocatedMistake } from '../settings/schema-mistakes.ts'
import { mistakeAt } from '../settings/mistake-collector.ts'

/** The names that a list of globs is compared with. */
interface NameForm {
  /** Null: such a glob may name something. */
  readonly problem: (glob: string) => { readonly problem: string; readonly fix: string } | null
  readonly mayExclude: boolean
}

/** Paths of a repository, such as `api/orders.yaml`. */
export const REPOSITORY_PATHS: NameForm = { problem: () => null, mayExclude: true }

/** @param prefix of the whole ref */
function shortRefs(prefix: string): NameForm {
  return {
    problem: (glob) =>
      /^refs\//i.test(glob)
        ? {
            problem: 'names are compared without the prefix of the ref',
            fix: `write ${glob.replace(new RegExp(`^${prefix}`, 'i'), '')}`,
          }
        : null,
    mayExclude: false,
  }
}

export const BRANCHES = shortRefs('refs/heads/')
export const TAGS = shortRefs('refs/tags/')

/** Files of GitHub workflows, without their folder, or ids. */
export const WORKFLOWS: NameForm = {
  problem(glob) {
    if (glob.includes('/')) return { problem: 'a workflow is named without its folder', fix: `write ${lastPart(glob)}` }
    return isLiteral(glob) && !/^[0-9]+$|\.ya?ml$/i.test(glob)
      ? { problem: 'it is neither the file of a workflow nor an id', fix: 'write the file, e.g. deploy.yml, or the id' }
      : null
  },
  mayExclude: false,
}

export function globMistakes(
  globs: readonly string[],
  pointer: string,
  { problem: ownProblem, mayExclude }: NameForm,
): readonly LocatedMistake[] {
  return globs.flatMap((given, index) => {
    const glob = mayExclude && given.startsWith('!') ? given.slice(1) : given
    const found = commonProblem(glob) ?? ownProblem(glob)
    return found === null
      ? []
      : [mistakeAt(`${pointer}/${index}`, `"${given}" can name nothing: ${found.problem}`, found.fix)]
  })
}

function commonProblem(glob: string): { readonly problem: string; readonly fix: string } | null {
  if (glob.startsWith('!')) return { problem: 'this list has no exclusions', fix: 'list what is meant' }
  if (glob !== glob.trim()) return { problem: 'it begins or ends with a space', fix: `write ${glob.trim()}` }
  const parts = glob.split('/')
  const named = parts.filter((part) => part !== '' && part !== '.' && part !== '..')
  return named.length === parts.length
    ? null
    : {
        problem: 'names have no empty part, no . and no ..',
        fix: named.length === 0 ? 'write a name' : `write ${named.join('/')}`,
      }
}

function lastPart(glob: string): string {
  return glob.slice(glob.lastIndexOf('/') + 1)
}

function isLiteral(glob: string): boolean {
  return !/[*?[\]{}()]/.test(glob)
}

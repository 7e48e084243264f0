/** Names of wrapped servers: the routes under which their calls are judged. */
import { createHash } from 'node:crypto'

const NAME = /^[a-z0-9][a-z0-9-]{0,62}$/

/** Null: the name may be used. */
export function nameProblem(name: string): string | null {
  return NAME.test(name)
    ? null
    : `the name ${JSON.stringify(name)} may contain lower-case letters, digits and hyphens, at most 63 characters`
}

/** Programs that start other programs: the name is that of what they start. */
const LAUNCHERS = new Set(
  'npx bunx pnpm yarn npm dlx exec x uvx uv run pipx python python3 node bun deno docker podman -m'.split(' '),
)
const RELEASE = /(?<=[^@/])@[^/@]*$|==.*$/

/**
 * The name of a server that was given none: what is started, and a hash of the whole command. Versions are left out, so
 * that a new version is compared with the old one.
 */
export function nameOf(command: readonly string[]): string {
  const plain = command.map((word) => word.replace(RELEASE, ''))
  const started = plain
    .map((word) => word.replace(/^.*[/\\]/, ''))
    .find((word, index) => {
      return !LAUNCHERS.has(word) && !word.startsWith('-') && (index > 0 || !LAUNCHERS.has(word))
    })
  const base = (started ?? 'server').toLowerCase().replaceAll(/[^a-z0-9]+/g, '-')
  const digest = createHash('sha256').update(JSON.stringify(plain)).digest('hex').slice(0, 8)
  return `${base.replace(/^-+/, '').slice(0, 50).replace(/-+$/, '') || 'server'}-${digest}`
}

/** Any text as a name. */
export function asName(text: string): string {
  const name = text
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .slice(0, 60)
    .replaceAll(/^-+|-+$/g, '')
  return name === '' ? 'server' : name
}

/**
 * Finds and compiles the policy pack that the configuration names; every mistake has its line and column. A shipped pack that
 * is unchanged on disk is compiled when a decision first needs it.
 */
import { join, resolve } from 'node:path'
import { ok, nearest } from '../../engine/base.ts'
import type { CompiledPolicy, Result } from '../../engine/internal.ts'
import { sha256Hex } from '../runtime/hash.ts'
import { engine } from '../loading/lazy-engine.ts'
import { packageFolder } from '../runtime/package-files.ts'
import { messageOf } from '../errors/startup-error.ts'
import { deferPolicy, type PolicyFacts } from './deferred-policy.ts'
import { inReadingOrder, pathOfPointer, type Mistake } from '../errors/mistake.ts'
import { SHIPPED_POLICIES } from './shipped-packs.generated.ts'
import { readSourceText } from '../settings/source-text.ts'
import { readTextFile, statsOf } from '../runtime/regular-file.ts'

/** Packs that ship with the program: policies/<name>/pack.yaml. */
export const SHIPPED_PACKS = ['agent-tools', 'ci', 'default', 'observe', 'strict'] as const

interface LoadedPolicy {
  readonly policy: CompiledPolicy
  readonly file: string
}

/** @param name of a shipped pack, or the path of a pack.yaml relative to `directory` */
export function loadPolicy(name: string, directory: string): Result<LoadedPolicy, readonly Mistake[]> {
  const file = policyFile(name, directory)
  let text: string
  try {
    text = readTextFile(file)
  } catch (error) {
    return { ok: false, problem: [missingPack(name, directory, messageOf(error))] }
  }
  const facts = SHIPPED_POLICIES.get(sha256Hex(text))
  if (facts !== undefined) return ok({ policy: deferPolicy(facts, () => compiledAs(facts, file, text)), file })
  const compiled = compileText(file, text)
  return compiled.ok ? ok({ policy: compiled.value, file }) : compiled
}

/** The text of a pack, compiled immediately; every mistake with its place. */
export function compileText(file: string, text: string): Result<CompiledPolicy, readonly Mistake[]> {
  const source = readSourceText(file, text)
  if (!source.ok) return source
  const compiled = engine().compilePolicy(source.value.value, sha256Hex)
  if (compiled.ok) return compiled
  const mistakes = compiled.problem.map(({ message, pointer = '' }) => ({
    place: source.value.place(pointer, 'value'),
    path: pathOfPointer(pointer),
    message,
    fix: '',
  }))
  return { ok: false, problem: inReadingOrder(mistakes) }
}

/** Throws when the policy differs from its known properties: receipts would name another policy than the one that decides. */
function compiledAs({ hash }: PolicyFacts, file: string, text: string): CompiledPolicy {
  const compiled = compileText(file, text)
  if (compiled.ok && compiled.value.hash === hash) return compiled.value
  throw new Error(`${file} is not the policy ${hash} that this version ships`)
}

/** A bare name is a shipped pack; a value that looks like a path is a path. */
export function policyFile(name: string, directory: string): string {
  return isPackName(name) ? join(packageFolder(), 'policies', name, 'pack.yaml') : resolve(directory, name)
}

function isPackName(name: string): boolean {
  return /^[a-z0-9][a-z0-9-]*$/.test(name)
}

function missingPack(name: string, directory: string, reason: string): Mistake {
  const file = policyFile(name, directory)
  if (!isPackName(name) && statsOf(file)?.isDirectory() === true)
    return {
      place: file,
      path: 'policy',
      message: 'is a folder',
      fix: `name the pack in it, e.g. ${join(file, 'pack.yaml')}`,
    }
  if (!isPackName(name))
    return { place: file, path: 'policy', message: 'the policy cannot be read', fix: reason.replace(`${file} `, 'it ') }
  const guess = statsOf(resolve(directory, name)) === null ? nearest(name, SHIPPED_PACKS) : `./${name}`
  return {
    place: `policy ${name}`,
    path: 'policy',
    message: `there is no policy pack named "${name}"`,
    fix: `${guess === null ? '' : `did you mean "${guess}"? `}shipped packs are ${SHIPPED_PACKS.join(', ')}; name a file with its path, such as ./pack.yaml`,
  }
}

/** Files of a set, matched by path: package, syntax, options, imports, and undeclared types. */
import { withLanguageFeatures, type Options } from '../../contracts/protobuf/features.ts'
import { missingImports, type ProtoContract } from '../../contracts/protobuf/contract.ts'
import type { ProtoFile } from '../../contracts/protobuf/model.ts'
import type { ProtoRuleId } from '../../rules/protobuf/rows.ts'
import { declaresOptionsOnly } from '../../contracts/protobuf/well-known.ts'
import type { UnresolvedReference } from '../../contracts/unresolved.ts'
import { FILE_OPTIONS } from '../../contracts/protobuf/options.ts'
import { operationOf } from './affected-rpcs.ts'
import { compareCommonOptions } from './options.ts'
import { headFileOf, type ProtoChange, type ProtoWalk } from './walk.ts'

export function compareFiles(walk: ProtoWalk): void {
  const { base, head } = walk
  if (base.files.size > 0 && head.files.size > 0) {
    const kept = new Set<ProtoFile>()
    for (const file of base.files.values()) {
      const headFile = headFileOf(file, walk)
      if (headFile === undefined) {
        walk.add({ ...fileChange(file), rule: 'proto-file-removed', side: 'base', before: file.path })
      } else {
        kept.add(headFile)
        compareFile(file, headFile, walk)
      }
    }
    for (const file of head.files.values()) {
      if (!kept.has(file)) walk.add({ ...fileChange(file), rule: 'proto-file-added', side: 'head', after: file.path })
    }
  }
  reportImports(walk)
  reportMissingTypes(walk)
}

function fileChange(file: ProtoFile): { readonly subject: string; readonly location: string; readonly name: string } {
  return { subject: `file ${file.path}`, location: file.at, name: file.path }
}

const JUDGED: ReadonlySet<string> = new Set(FILE_OPTIONS.map(({ name }) => name))

function compareFile(base: ProtoFile, head: ProtoFile, walk: ProtoWalk): void {
  const place = { side: 'head', location: head.at, name: head.path || null } as const
  const subject = `file ${head.path}`
  if (base.package !== head.package) {
    const change = { ...place, location: `${head.at}/package`, subject: `${subject} package` }
    walk.add({
      ...change,
      rule: 'proto-file-package-changed',
      before: base.package || null,
      after: head.package || null,
    })
  }
  if (base.syntax !== head.syntax) {
    const change = { ...place, location: `${head.at}/syntax`, subject: `${subject} syntax` }
    walk.add({ ...change, rule: syntaxRule(base, head), before: base.syntax, after: head.syntax })
  }
  // What a file loses by one that it imports is reported at that one.
  for (const path of new Set(base.publicImports)) {
    if (isPassedOn(path, head, walk.head.files)) continue
    const change = { ...place, subject: `${subject} public import ${path}` }
    walk.add({ ...change, rule: 'proto-public-import-removed', before: path })
  }
  const [before, after] = languageOptions(base, head)
  for (const { name, fallback } of FILE_OPTIONS) {
    const [old, current] = [before.get(name) ?? fallback, after.get(name) ?? fallback]
    if (old === current) continue
    const change = { ...place, location: `${head.at}/option/${name}`, subject: `${subject} ${name}` }
    walk.add({ ...change, rule: `proto-file-${name.replaceAll('_', '-')}-changed`, before: old, after: current })
  }
  const shared = { name: head.path === '' ? 'the file' : head.path, fullName: subject, at: head.at }
  compareCommonOptions(
    { ...shared, options: before },
    { ...shared, options: after },
    { judged: JUDGED, reaches: [] },
    walk,
  )
}

/** The options of both sides. A default name of the outer class is compared only if no side states one. */
function languageOptions(base: ProtoFile, head: ProtoFile): readonly [before: Options, after: Options] {
  const isNamed = [base, head].some(({ options }) => options.has('java_outer_classname'))
  return [
    withLanguageFeatures(base.syntax, base.options, isNamed),
    withLanguageFeatures(head.syntax, head.options, isNamed),
  ]
}

/** Whether those who import a file get the declarations of the one at the path too. The nearest ones come first. */
function isPassedOn(path: string, { publicImports }: ProtoFile, files: ProtoContract['files']): boolean {
  const reached = new Set(publicImports)
  if (reached.has(path)) return true
  // Iteration over a set includes items added on the way.
  for (const near of reached) {
    for (const further of files.get(near)?.publicImports ?? []) {
      if (further === path) return true
      reached.add(further)
    }
  }
  return false
}

/** proto2 and proto3 are editions of their own features, which are compared at every declaration. */
function syntaxRule(base: ProtoFile, head: ProtoFile): ProtoRuleId {
  if (isEdition(base) && isEdition(head)) return 'proto-file-edition-changed'
  return isEdition(base) || isEdition(head) ? 'proto-file-syntax-became-edition' : 'proto-file-syntax-changed'
}

function isEdition({ syntax }: ProtoFile): boolean {
  return !syntax.startsWith('proto')
}

/** What was missing before is compared by name as before. Only a new gap is reported. */
function reportImports(walk: ProtoWalk): void {
  const known = new Set(missingImports(walk.base).map(({ path }) => path))
  for (const { file, path } of missingImports(walk.head)) {
    if (known.has(path)) continue
    const subject = `import ${path}`
    walk.add({ rule: 'proto-import-unresolved', subject, side: 'head', location: file.at, name: path, after: path })
  }
}

/** Imports and types of one side whose declaration was not given. */
export function unresolvedImportsAndTypes(
  side: 'base' | 'head',
  contract: ProtoContract,
): readonly UnresolvedReference[] {
  const imports = missingImports(contract)
    .filter(({ path }) => !declaresOptionsOnly(path))
    .map(({ file, path }) => ({ side, reference: path, location: file.at, tool: null }))
  const types = opaqueTypesOf(contract).map(({ type, location }) => ({ side, reference: type, location, tool: null }))
  return [...imports, ...types]
}

interface Gap {
  readonly type: string
  readonly location: string
  readonly reaches: NonNullable<ProtoChange['reaches']>
}

function reportMissingTypes(walk: ProtoWalk): void {
  const known = new Set(gapsOf(walk.base).map(({ type }) => type))
  for (const { type, location, reaches } of gapsOf(walk.head)) {
    if (known.has(type)) continue
    const subject = `type ${type}`
    walk.add({ rule: 'proto-type-unresolved', subject, side: 'head', location, name: type, after: type, reaches })
  }
}

/** Undeclared names in files whose imports are all present. In other files they may come from a missing import. */
function gapsOf(contract: ProtoContract): readonly Gap[] {
  const incomplete = new Set(missingImports(contract).map(({ file }) => file.path))
  return opaqueTypesOf(contract).filter(({ location }) => {
    const file = contract.fileOf(location)
    return file !== undefined && !incomplete.has(file.path)
  })
}

/** Each undeclared name, at every use. */
function opaqueTypesOf(contract: ProtoContract): readonly Gap[] {
  const gaps: Gap[] = []
  const check = (written: string, scope: string, location: string, reaches: Gap['reaches']): void => {
    const type = contract.typeOf(written, scope)
    if (type.kind === 'opaque') gaps.push({ type: type.name, location, reaches })
  }
  for (const { fields, fullName } of contract.messages.values())
    for (const { type, scope, at } of fields) check(type, scope, at, fullName)
  for (const { type, scope, at, extendee } of contract.extensions.values())
    check(type, scope, at, contract.typeOf(extendee ?? '', scope).name)
  for (const service of contract.services.values()) {
    for (const method of service.methods) {
      const reaches = [operationOf(service, method)]
      for (const written of [method.input, method.output]) check(written, method.scope, method.at, reaches)
    }
  }
  return gaps
}

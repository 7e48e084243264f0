/** Messages, enums, services and extensions that were added, removed or moved, by file and by package. */
import type { ProtoContract } from '../../contracts/protobuf/contract.ts'
import type { Declared, ProtoField, ProtoFile, ProtoService } from '../../contracts/protobuf/model.ts'
import type { Operation } from '../../model/finding.ts'
import type { ProtoRuleId } from '../../rules/protobuf/rows.ts'
import { operationOf } from './affected-rpcs.ts'
import { headFileOf, type ProtoWalk } from './walk.ts'
import { outerOf } from '../../contracts/protobuf/names.ts'

interface DeclarationKind {
  readonly listOf: (contract: ProtoContract) => Iterable<Declared>
  readonly removed: ProtoRuleId
  readonly leftFile: ProtoRuleId
  readonly leftPackage: ProtoRuleId
  /** The rule if file and package were removed too. Null if their findings cover it. */
  readonly wentWithPackage: ProtoRuleId | null
  readonly added: ProtoRuleId
}

const KINDS: readonly DeclarationKind[] = [
  {
    listOf: ({ messages }) => [...messages.values()].filter(({ isMapEntry }) => !isMapEntry),
    removed: 'proto-message-removed',
    leftFile: 'proto-message-left-file',
    leftPackage: 'proto-message-left-package',
    wentWithPackage: null,
    added: 'proto-message-added',
  },
  {
    listOf: ({ enums }) => enums.values(),
    removed: 'proto-enum-removed',
    leftFile: 'proto-enum-left-file',
    leftPackage: 'proto-enum-left-package',
    wentWithPackage: null,
    added: 'proto-enum-added',
  },
  {
    listOf: ({ services }) => services.values(),
    removed: 'proto-service-removed',
    leftFile: 'proto-service-left-file',
    leftPackage: 'proto-service-left-package',
    wentWithPackage: 'proto-service-removed-with-package',
    added: 'proto-service-added',
  },
  {
    listOf: ({ extensions }) => extensions.values(),
    removed: 'proto-extension-removed',
    leftFile: 'proto-extension-left-file',
    leftPackage: 'proto-extension-left-package',
    wentWithPackage: null,
    added: 'proto-extension-added',
  },
]

export function compareExistence(walk: ProtoWalk): void {
  const { base, head } = walk
  const reported = new Set<string>()
  for (const { package: name, at } of base.files.values()) {
    if (head.files.size === 0 || head.packages.has(name) || reported.has(name)) continue
    reported.add(name)
    const location = `${at}/package`
    walk.add({
      rule: 'proto-package-removed',
      subject: `package ${name}`,
      side: 'base',
      location,
      name: name || null,
      before: name || null,
    })
  }
  for (const kind of KINDS) compareDeclarations(kind, walk)
  compareTargets(walk)
}

/** An extension that has its name still, and another number or message. */
function compareTargets({ base, head, add }: ProtoWalk): void {
  const kept = new Map([...head.extensions].map(([target, field]) => [field.fullName, { target, field }]))
  for (const [before, { fullName: name }] of base.extensions) {
    const after = kept.get(name)
    if (after === undefined || after.target === before) continue
    const { field, target } = after
    const place = { side: 'head', location: field.at, subject: name, reaches: reachedBy(field, head) } as const
    add({
      ...place,
      rule: 'proto-extension-target-changed',
      name,
      before: fieldWords(before),
      after: fieldWords(target),
    })
  }
}

function fieldWords(target: string): string {
  const [message, number] = target.split('#')
  return `field ${number} of ${message}`
}

function compareDeclarations(kind: DeclarationKind, walk: ProtoWalk): void {
  const { base, head } = walk
  const before = indexDeclarations(kind.listOf(base), base)
  const after = indexDeclarations(kind.listOf(head), head)
  for (const { declared, file } of before.all) {
    const rule = judgeAbsence(kind, { declared, file }, after, walk)
    if (rule === null) continue
    const place = { side: 'base', location: declared.at, subject: declared.fullName } as const
    walk.add({
      ...place,
      rule,
      name: declared.fullName,
      before: declared.fullName,
      reaches: reachedBy(declared, base),
    })
  }
  for (const { declared } of after.all) {
    if (before.names.has(declared.fullName) || isWithinNew(declared, walk)) continue
    const place = { side: 'head', location: declared.at, subject: declared.fullName } as const
    walk.add({ ...place, rule: kind.added, name: declared.fullName, after: declared.fullName })
  }
}

interface Placed {
  readonly declared: Declared
  readonly file: ProtoFile
}

interface Index {
  readonly all: readonly Placed[]
  readonly names: ReadonlySet<string>
  /** `path` and the name without the package. */
  readonly inFiles: ReadonlySet<string>
}

function indexDeclarations(list: Iterable<Declared>, { fileOf }: ProtoContract): Index {
  const all: Placed[] = []
  for (const declared of list) {
    const file = fileOf(declared.at)
    if (file !== undefined) all.push({ declared, file })
  }
  return {
    all,
    names: new Set(all.map(({ declared }) => declared.fullName)),
    inFiles: new Set(all.map(({ declared, file }) => inFile(file, nestedName(declared, file)))),
  }
}

function inFile({ path }: ProtoFile, nested: string): string {
  return `${path}\n${nested}`
}

function nestedName({ fullName }: Declared, file: ProtoFile): string {
  return file.package === '' ? fullName : fullName.slice(file.package.length + 1)
}

function judgeAbsence(
  kind: DeclarationKind,
  { declared, file }: { readonly declared: Declared; readonly file: ProtoFile },
  after: Index,
  walk: ProtoWalk,
): ProtoRuleId | null {
  const { head } = walk
  const isRemoved = !after.names.has(declared.fullName)
  if (head.files.size === 0) return kind.removed
  const headFile = headFileOf(file, walk)
  const leftFile = headFile !== undefined && !after.inFiles.has(inFile(headFile, nestedName(declared, file)))
  const leftPackage = isRemoved && head.packages.has(file.package)
  if (leftFile && leftPackage) return kind.removed
  if (leftPackage) return kind.leftPackage
  if (isRemoved && kind.wentWithPackage !== null) return kind.wentWithPackage
  return leftFile ? kind.leftFile : null
}

/** Declarations within a new message were added with it. */
function isWithinNew({ fullName }: Declared, { base, head }: ProtoWalk): boolean {
  const outer = outerOf(fullName)
  return head.messages.has(outer) && !base.messages.has(outer)
}

/**
 * A service reaches its own methods, and an extension belongs to the type it extends. Other declarations reach the
 * rpcs that use them.
 */
function reachedBy(declared: Declared, { services, typeOf }: ProtoContract): string | readonly Operation[] {
  const { fullName } = declared
  if (isField(declared)) return typeOf(declared.extendee ?? '', declared.scope).name
  const service: ProtoService | undefined = services.get(fullName)
  return service === undefined ? fullName : service.methods.map((method) => operationOf(service, method))
}

function isField(declared: Declared): declared is ProtoField {
  return 'extendee' in declared
}

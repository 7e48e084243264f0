/**
 * The laws of the layout, held by reading the sources: who may import what, where the environment is read, which folders
 * there are. The compiler and the linter hold some of them too; this test is the one that cannot be switched off by configuration. It is
 * one file, since all of its tests go over one reading of the sources.
 */
import assert from 'node:assert/strict'
import { globSync, readdirSync, readFileSync } from 'node:fs'
import { join, posix } from 'node:path'
import { test } from 'node:test'
import engineManifest from '../engine/package.json' with { type: 'json' }
import gatewayManifest from '../gateway/package.json' with { type: 'json' }
import rootManifest from '../package.json' with { type: 'json' }

const ROOT = join(import.meta.dirname, '..')
const SOURCE_FOLDERS = ['engine', 'gateway', 'test', 'bench', 'docs', '.ci'] as const

interface Import {
  readonly specifier: string
  /** Erased before it runs, so it is no edge of the module graph. */
  readonly typeOnly: boolean
  /** Loaded when it is reached, not with the module. */
  readonly isDynamic: boolean
}

interface Source {
  /** Path from the root, with forward slashes. */
  readonly path: string
  readonly text: string
  /** The text without comments, so that prose about a law does not break it. */
  readonly code: string
  readonly imports: readonly Import[]
}

const IMPORT = /^(?:import|export)\s+(type\s+)?(?:[\w*\s{},$]+?\s+from\s+)?'([^']+)'/gm
const DYNAMIC_IMPORT = /\bimport\(\s*'([^']+)'/g

function withoutComments(text: string): string {
  return text.replaceAll(/\/\*[\s\S]*?\*\//g, '').replaceAll(/^\s*\/\/.*$/gm, '')
}

function readSource(path: string): Source {
  const text = readFileSync(join(ROOT, path), 'utf8')
  const code = withoutComments(text)
  const imports = [
    ...[...code.matchAll(IMPORT)].map(([, type, specifier]) => ({
      specifier: specifier ?? '',
      typeOnly: type !== undefined,
      isDynamic: false,
    })),
    ...[...code.matchAll(DYNAMIC_IMPORT)].map(([, specifier]) => ({
      specifier: specifier ?? '',
      typeOnly: false,
      isDynamic: true,
    })),
  ]
  return { path, text, code, imports }
}

const sources: readonly Source[] = SOURCE_FOLDERS.flatMap((folder) =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => readSource(posix.join(folder, name.replaceAll('\\', '/')))),
)

const within = (folder: string) => sources.filter(({ path }) => path.startsWith(`${folder}/`))
const product = [...within('engine'), ...within('gateway')]

/** Path from the root of a relative import; null for a package or a runtime module. */
function target(source: Source, { specifier }: Import): string | null {
  return specifier.startsWith('.') ? posix.join(posix.dirname(source.path), specifier) : null
}

/** `@scope/name` or `name` of a package import; null for the rest. */
function packageName({ specifier }: Import): string | null {
  if (specifier.startsWith('.') || specifier.startsWith('node:')) return null
  return specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/')
}

/** Every import that `broken` names a law for, as `file → specifier`. */
function offendingImports(files: readonly Source[], broken: (source: Source, entry: Import) => boolean): string[] {
  return files.flatMap((source) =>
    source.imports.filter((entry) => broken(source, entry)).map(({ specifier }) => `${source.path} → ${specifier}`),
  )
}

const offendingFiles = (files: readonly Source[], pattern: RegExp) =>
  files.filter(({ code }) => pattern.test(code)).map(({ path }) => path)

test('the reader of imports sees static, type-only, multi-line and dynamic imports', () => {
  const { imports } = readSource('test/architecture.test.ts')
  assert.deepEqual(
    imports.map(({ specifier }) => specifier).slice(0, 2),
    ['node:assert/strict', 'node:fs'],
    'this very file is read rightly',
  )
  const flow = readSource('gateway/flow/flow.ts')
  assert.ok(
    flow.imports.some(({ specifier, typeOnly }) => typeOnly && specifier === '../../engine/internal.ts'),
    'a multi-line type import is seen, and seen as a type import',
  )
})

test('the engine imports neither the runtime nor the gateway', () => {
  assert.ok(within('engine').length > 10, 'the engine is found')
  const offending = offendingImports(within('engine'), (source, entry) => {
    const path = target(source, entry)
    return entry.specifier.startsWith('node:') || (path !== null && !path.startsWith('engine/'))
  })
  assert.deepEqual(offending, [])
})

test('the engine has no clock, no randomness, no timers, no network and no process', () => {
  const forbidden =
    /\bDate\.now\b|\bnew Date\(\s*\)|\bMath\.random\b|\bprocess\.|\bBuffer\b|\bset(?:Timeout|Interval|Immediate)\(|\bfetch\(|\bcrypto\.|\bperformance\./
  assert.deepEqual(offendingFiles(within('engine'), forbidden), [])
})

/** Sources of the entries that the package of the engine exports. */
const ENGINE_ENTRIES: readonly string[] = Object.values(engineManifest.exports)
  .flatMap((entry) => (typeof entry === 'string' ? [] : [entry.default]))
  .map((file) => file.replace('./dist/', 'engine/').replace(/js$/, 'ts'))

test('the gateway reaches the engine by the entries of its package only', () => {
  assert.ok(ENGINE_ENTRIES.includes('engine/index.ts'), 'the entries are read')
  const offending = offendingImports(within('gateway'), (source, entry) => {
    const path = target(source, entry)
    return path !== null && path.startsWith('engine/') && !ENGINE_ENTRIES.includes(path)
  })
  assert.deepEqual(offending, [])
})

/** What a start imports, and what that imports: static imports only, without what is erased. */
function loadedBy(entry: string): ReadonlySet<string> {
  const known = new Map(product.map((source) => [source.path, source]))
  const loaded = new Set<string>()
  const waiting = [entry]
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    const source = known.get(path)
    if (source === undefined || loaded.has(path)) continue
    loaded.add(path)
    for (const found of source.imports.filter(({ typeOnly, isDynamic }) => !typeOnly && !isDynamic))
      waiting.push(target(source, found) ?? '')
  }
  return loaded
}

test('what judges is not imported by a start: it is loaded when there is something to judge', () => {
  const loaded = loadedBy('gateway/main.ts')
  assert.ok(loaded.has('gateway/loading/lazy-engine.ts') && loaded.has('engine/base.ts'), 'imports are followed')
  const judging = ['engine/internal.ts', 'gateway/protocols/registry.ts', 'gateway/api/serving/serving.ts']
  assert.deepEqual(
    judging.filter((path) => loaded.has(path)),
    [],
  )
})

test('the product imports nothing of the tests, the benches or the docs', () => {
  const offending = offendingImports(product, (source, entry) => {
    const path = target(source, entry)
    return path !== null && !/^(?:engine|gateway|policies|package\.json)(?:\/|$)/.test(path)
  })
  assert.deepEqual(offending, [])
})

/** The two packages: what each declares, and the sources that ship in it. */
const PACKAGES: readonly { readonly folder: string; readonly dependencies: Readonly<Record<string, string>> }[] = [
  { folder: 'engine', dependencies: engineManifest.dependencies },
  { folder: 'gateway', dependencies: gatewayManifest.dependencies },
]

test('each package runs on the dependencies that it declares', () => {
  for (const { folder, dependencies } of PACKAGES) {
    const declared = new Set(Object.keys(dependencies))
    const offending = offendingImports(within(folder), (_, entry) => {
      const name = packageName(entry)
      return name !== null && !declared.has(name)
    })
    assert.deepEqual(offending, [])
  }
})

/** Module → the one file that may load it while the gateway serves, and what stands in its place elsewhere. */
const LOADED_BY: readonly { readonly module: RegExp; readonly file: string | null }[] = [
  // engine/common/type-builder.ts builds the schemas; the replay of a policy is a command of its own.
  { module: /^typebox$/, file: null },
  { module: /^typebox\/value$/, file: 'gateway/flow/replay.ts' },
  // gateway/runtime/node-http.ts and gateway/network/undici.ts say why.
  { module: /^node:http$/, file: null },
  { module: /^undici(?:\/|$)/, file: null },
  // gateway/runtime/node-tls.ts and gateway/telemetry/prometheus.ts say why.
  { module: /^node:(?:tls|https|http2)$/, file: null },
  { module: /^prom-client(?:\/|$)/, file: null },
]

test('what is heavy to load is loaded in one way', () => {
  const offending = offendingImports(product, ({ path }, { specifier, typeOnly }) =>
    LOADED_BY.some(({ module, file }) => !typeOnly && module.test(specifier) && path !== file),
  )
  assert.deepEqual(offending, [])
})

test('each package uses every dependency that it declares', () => {
  for (const { folder, dependencies } of PACKAGES) {
    const used = new Set(within(folder).flatMap(({ imports }) => imports.map(packageName)))
    // The gateway reaches the engine by relative imports here, and by the package's name in its tarball.
    const unused = Object.keys(dependencies).filter((name) => !used.has(name) && name !== engineManifest.name)
    assert.deepEqual(unused, [])
  }
})

test('every dependency is pinned to an exact version', () => {
  const sections = [
    ...PACKAGES.map(({ dependencies }) => dependencies),
    gatewayManifest.optionalDependencies,
    rootManifest.devDependencies,
    rootManifest.optionalDependencies,
  ]
  const loose = sections
    .flatMap((section) => Object.entries(section))
    .filter(([, version]) => !/^(?:npm:[@\w./-]+@)?\d+\.\d+\.\d+$/.test(version))
  assert.deepEqual(loose, [])
})

test('the packages carry one version and one Node.js', () => {
  assert.deepEqual([engineManifest.version, gatewayManifest.version], [rootManifest.version, rootManifest.version])
  assert.equal(gatewayManifest.dependencies['preflight-engine'], engineManifest.version)
  assert.deepEqual(gatewayManifest.optionalDependencies, rootManifest.optionalDependencies)
})

test('one file reads the environment', () => {
  const readers = offendingFiles(product, /\bprocess\s*\.\s*env\b|\bprocess\[|\{[^}]*\benv\b[^}]*\}\s*=\s*process\b/)
  assert.equal(readers.length, 1, `the environment is read in: ${readers.join(', ')}`)
  assert.equal(readers[0], 'gateway/settings/environment.ts')
})

type Graph = ReadonlyMap<string, ReadonlySet<string>>

/** One path for each circle that a walk over the graph meets; a node that leads to itself is none. */
function circlesIn(graph: Graph): string[] {
  const done = new Set<string>()
  const circles: string[] = []
  const visit = (node: string, path: readonly string[]): void => {
    if (path.includes(node)) {
      circles.push([...path.slice(path.indexOf(node)), node].join(' → '))
      return
    }
    if (done.has(node)) return
    for (const next of graph.get(node) ?? []) if (next !== node) visit(next, [...path, node])
    done.add(node)
  }
  for (const node of graph.keys()) visit(node, [])
  return circles
}

/** @param counted which imports are edges @param nodeOf what a file counts as */
function importGraph(
  files: readonly Source[],
  counted: (entry: Import) => boolean,
  nodeOf: (path: string) => string = (path) => path,
): Graph {
  const known = new Set(files.map(({ path }) => path))
  const graph = new Map(files.map(({ path }) => [nodeOf(path), new Set<string>()]))
  for (const source of files)
    for (const entry of source.imports.filter(counted)) {
      const path = target(source, entry)
      if (path !== null && known.has(path)) graph.get(nodeOf(source.path))?.add(nodeOf(path))
    }
  return graph
}

/** `gateway/flow`, `gateway/protocols/mcp`; `gateway` for the files beside the folders. */
function roomOf(path: string): string {
  const [, first = '', second = '', third] = path.split('/')
  if (second === '') return 'gateway'
  return first === 'protocols' && third !== undefined ? `gateway/protocols/${second}` : `gateway/${first}`
}

test('a circle of imports is seen', () => {
  const graph = new Map([
    ['a', new Set(['b'])],
    ['b', new Set(['c', 'b'])],
    ['c', new Set(['a'])],
    ['d', new Set(['a'])],
  ])
  assert.deepEqual(circlesIn(graph), ['a → b → c → a'])
  assert.equal(roomOf('gateway/protocols/mcp/recogniser.ts'), 'gateway/protocols/mcp')
  assert.equal(roomOf('gateway/store/sqlite/store.ts'), 'gateway/store')
  assert.equal(roomOf('gateway/main.ts'), 'gateway')
})

test('no modules run in a circle', () => {
  assert.deepEqual(circlesIn(importGraph(sources, ({ typeOnly }) => !typeOnly)), [])
})

test('no rooms of the gateway stand in a circle, types counted', () => {
  const rooms = importGraph(within('gateway'), () => true, roomOf)
  assert.ok(rooms.size > 40 && rooms.get('gateway/protocols/mcp')?.has('gateway/calls') === true, 'rooms are found')
  assert.deepEqual(circlesIn(rooms), [])
})

test('no folders inside a folder of the gateway stand in a circle, types counted', () => {
  const rooms = importGraph(
    within('gateway'),
    () => true,
    (path) => posix.dirname(path),
  )
  assert.ok(rooms.get('gateway/store/sqlite')?.has('gateway/store/sql') === true, 'rooms are found')
  // The files beside the folders put the parts together: `gateway` is no part.
  assert.deepEqual(circlesIn(new Map([...rooms].filter(([room]) => room !== 'gateway'))), [])
})

test('a folder of the gateway imports only folders below it, types counted', () => {
  const order = FOLDERS['gateway'] ?? []
  const rankOf = (path: string): number => {
    const [, folder = '', file] = path.split('/')
    // The files beside the folders run or publish the whole; the command line alone stands above them.
    return file === undefined ? order.indexOf('cli') - 0.5 : order.indexOf(folder)
  }
  const offending = offendingImports(within('gateway'), (source, entry) => {
    const path = target(source, entry)
    return path?.startsWith('gateway/') === true && path.endsWith('.ts') && rankOf(path) > rankOf(source.path)
  })
  assert.deepEqual(offending, [])
})

for (const product of ['engine', 'gateway'] as const)
  test(`no files of ${product}/ stand in a circle, types counted`, () => {
    assert.deepEqual(circlesIn(importGraph(within(product), () => true)), [])
  })

/** What puts the whole configuration together knows every part of it, so no part may know it. */
test('the whole configuration is imported by the command line and by what puts the parts together', () => {
  const offending = offendingImports(within('gateway'), (source, entry) => {
    const path = target(source, entry)
    const room = roomOf(source.path)
    return (
      path !== null &&
      roomOf(path) === 'gateway/config' &&
      !['gateway', 'gateway/cli', 'gateway/config', 'gateway/wiring'].includes(room)
    )
  })
  assert.deepEqual(offending, [])
})

test('every relative import names a file that is there', () => {
  const known = new Set(sources.map(({ path }) => path))
  const offending = offendingImports(sources, (source, entry) => {
    const path = target(source, entry)
    return path !== null && path.endsWith('.ts') && !known.has(path)
  })
  assert.deepEqual(offending, [])
})

test('exports are named, and only what Node can erase is written', () => {
  const laws: Readonly<Record<string, RegExp>> = {
    'export default': /^export default\b/m,
    'export *': /^export \*/m,
    enum: /^(?:export )?(?:const )?enum\b/m,
    namespace: /^(?:export )?namespace\b/m,
  }
  const broken = Object.entries(laws).flatMap(([law, pattern]) =>
    offendingFiles(sources, pattern).map((path) => `${path}: ${law}`),
  )
  assert.deepEqual(broken, [])
})

/** Names of declarations at the top of a file, with the files that declare them. */
function declarations(files: readonly Source[], pattern: RegExp): ReadonlyMap<string, readonly string[]> {
  const found = files.flatMap(({ path, code }) => [...code.matchAll(pattern)].map(([, name = '']) => ({ name, path })))
  return new Map(
    [...Map.groupBy(found, ({ name }) => name)].map(([name, at]) => [name, [...new Set(at.map(({ path }) => path))]]),
  )
}

test('a type name is declared in one file', () => {
  // That file holds sources of other programs as text.
  const own = product.filter(({ path }) => path !== 'gateway/api/framework-snippets.ts')
  const types = declarations(own, /^(?:export )?(?:abstract )?(?:interface|type|class) (\w+)/gm)
  assert.ok(types.size > 2000, 'types are found')
  const twice = [...types].filter(([, paths]) => paths.length > 1)
  assert.deepEqual(Object.fromEntries(twice), {})
})

test('every value that a file exports is used by another', () => {
  const values = declarations(product, /^export (?:async )?(?:const|function\*?|class) (\w+)/gm)
  assert.ok(values.size > 2000, 'values are found')
  const words = sources.flatMap(({ code }) => [...new Set(code.match(/\w+/g))])
  const files = Map.groupBy(words, (word) => word)
  const unused = [...values].filter(([name, paths]) => (files.get(name)?.length ?? 0) <= paths.length)
  assert.deepEqual(Object.fromEntries(unused), {})
})

test('no check is switched off in a source', () => {
  const suppressed = /@ts-(?:ignore|nocheck|expect-error)|(?:oxlint|eslint)-disable/
  const self = 'test/architecture.test.ts'
  assert.deepEqual(
    sources.filter(({ path, text }) => path !== self && suppressed.test(text)).map(({ path }) => path),
    [],
  )
})

test('no test is singled out, and none is left out without a reason', () => {
  const singled = /\b(?:test|it|describe|suite)\.(?:only|todo|skip)\(|\b(?:only|todo|skip): true\b|\bt\.skip\(\s*\)/
  assert.deepEqual(offendingFiles(within('test'), singled), [])
})

test('every source begins by saying what it is for', () => {
  const silent = sources.filter(({ text }) => !/^(?:\/\*\*|\/\/ |#!)/.test(text)).map(({ path }) => path)
  assert.deepEqual(silent, [])
})

test('every function of the public face says what it takes and gives', () => {
  const face = sources.find(({ path }) => path === 'engine/internal.ts') ?? assert.fail('the engine has a face')
  const names = [...face.code.matchAll(/^export \{([^}]*)\} from '\.\/([^']+\.ts)'/gm)].flatMap(
    ([, list = '', file = '']) => list.split(',').map((name) => ({ name: name.trim(), file: `engine/${file}` })),
  )
  assert.ok(names.length > 50, 'the names are found')
  const undocumented = names.filter(({ name, file }) => {
    const text = sources.find(({ path }) => path === file)?.text ?? ''
    const [first] = [...text.matchAll(new RegExp(`(\\*/)?\\nexport (?:async )?function ${name}\\b`, 'g'))]
    return first !== undefined && first[1] === undefined
  })
  assert.deepEqual(undocumented, [])
})

test('a source past 400 lines says in its header why it is one file', () => {
  const unexplained = sources
    .filter(({ text }) => text.split('\n').length > 401)
    .filter(({ text }) => !/\bone (?:file|table|list)\b/i.test(text.slice(0, text.indexOf('*/'))))
    .map(({ path }) => path)
  assert.deepEqual(unexplained, [])
})

test('file names are kebab-case nouns', () => {
  const odd = sources
    .map(({ path }) => path)
    .filter((path) => !/^(?:\.?[a-z0-9]+(?:[.-][a-z0-9]+)*\/)*[a-z0-9]+(?:[.-][a-z0-9]+)*\.ts$/.test(path))
  const vague = product
    .map(({ path }) => path)
    .filter((path) => /(?:^|[/-])(?:utils?|helpers?|manager|service|misc|common)\.ts$/.test(path))
  assert.deepEqual([...odd, ...vague], [])
})

/** The folders of the house. A stage that is not built yet may be missing; another folder needs a place in the design first. */
const FOLDERS: Readonly<Record<string, readonly string[]>> = {
  engine: [
    'common',
    'contracts',
    'decide',
    'diff',
    'formats',
    'guard',
    'model',
    'patterns',
    'policy',
    'receipts',
    'rules',
    'schema',
  ],
  // From the bottom up: each imports only what stands before it.
  gateway: [
    'errors',
    'runtime',
    'json',
    'network',
    'settings',
    'loading',
    'routing',
    'telemetry',
    'keys',
    'tls',
    'validation',
    'store',
    'status-lists',
    'callers',
    'calls',
    'documents',
    'approvals',
    'consumers',
    'flow',
    'scm',
    'baselines',
    'break-glass',
    'fleet',
    'monitoring',
    'notifications',
    'upstream',
    'protocols',
    'listen',
    'enforce',
    'ext-authz',
    'kubernetes',
    'report',
    'stdio',
    'editors',
    'merge-checks',
    'api',
    'hub',
    'console',
    'config',
    'wiring',
    'cli',
  ],
  '.': ['bench', 'charts', 'docs', 'engine', 'examples', 'gateway', 'integrations', 'policies', 'test'],
}

/** What npm and the build leave in the root. */
const NOT_SOURCES: ReadonlySet<string> = new Set(['node_modules', 'dist'])

for (const [parent, design] of Object.entries(FOLDERS)) {
  test(`the folders of ${parent === '.' ? 'the root' : `${parent}/`} are those of the design`, () => {
    const present = readdirSync(join(ROOT, parent), { withFileTypes: true })
      .filter((entry) => entry.isDirectory() && !entry.name.startsWith('.') && !NOT_SOURCES.has(entry.name))
      .map(({ name }) => name)
    assert.ok(present.length > 5, 'folders are found')
    assert.deepEqual(
      present.filter((name) => !design.includes(name)),
      [],
    )
  })
}

/** The folder of a file, cut at a depth. Files beside the folders of that depth are one node: `engine/·`. */
function folderAt(depth: number): (path: string) => string {
  return (path) => {
    const folders = path.split('/').slice(0, -1)
    return folders.length < depth ? `${folders.join('/')}/·` : folders.slice(0, depth).join('/')
  }
}

test('a folder is cut at a depth, and files beside folders are one node', () => {
  const files = ['engine/index.ts', 'engine/rules/row.ts', 'engine/rules/mcp/rows.ts']
  assert.deepEqual(files.map(folderAt(2)), ['engine/·', 'engine/rules', 'engine/rules'])
  assert.deepEqual(files.map(folderAt(3)), ['engine/·', 'engine/rules/·', 'engine/rules/mcp'])
})

for (const product of ['engine', 'gateway'] as const)
  for (const depth of [2, 3])
    test(`no folders of ${product}/ stand in a circle at depth ${depth}, types counted`, () => {
      const folders = importGraph(within(product), () => true, folderAt(depth))
      assert.ok(folders.size > 10 && folders.has(`${product}/·`), 'folders are found')
      assert.deepEqual(circlesIn(folders), [])
    })

test('only entries of its package lie beside the folders of the engine', () => {
  const beside = within('engine').map(({ path }) => path)
  assert.deepEqual(beside.filter((path) => folderAt(2)(path) === 'engine/·').toSorted(), ENGINE_ENTRIES.toSorted())
})

/** Rules are the vocabulary in which walkers report: a rule knows nothing of the walk that found its change. */
test('no rule imports a walker', () => {
  const offending = offendingImports(within('engine/rules'), (source, entry) =>
    (target(source, entry) ?? '').startsWith('engine/diff/'),
  )
  assert.deepEqual(offending, [])
})

/** What starts a request, and what opens a tunnel. */
const SENDERS = ['gateway/enforce/in-flight-requests.ts', 'gateway/listen/connect.ts']

test('an answer of the proxy is sent in one place: stages return it', () => {
  const stages = [...within('gateway/enforce'), ...within('gateway/protocols'), ...within('gateway/listen')]
  const offending = stages.filter(({ path, code }) => /\bsendReply\(/.test(code) && !SENDERS.includes(path))
  assert.deepEqual(
    offending.map(({ path }) => path),
    ['gateway/listen/request-context.ts'],
  )
  const inner = [...within('gateway/enforce'), ...within('gateway/protocols')]
  assert.deepEqual(offendingFiles(inner, /\.writeHead\(|\bresponse\.end\(/), [])
})

/** The files that put a format together: its reader, its walkers, its rules and the report. */
const COMPARISONS = /^engine\/diff\/[^/]+\/(?:compare|manifest)\.ts$/

test('walkers ask no rule: they report changes by name, and what puts a format together adds the rules', () => {
  const walkers = within('engine/diff').filter(({ path }) => !COMPARISONS.test(path))
  assert.ok(walkers.length > 40, 'the walkers are found')
  const offending = offendingImports(
    walkers,
    (source, entry) => !entry.typeOnly && (target(source, entry) ?? '').startsWith('engine/rules/'),
  )
  assert.deepEqual(offending, [])
})

test('no format of a contract imports the list of formats', () => {
  const registries = ['engine/formats/compare.ts', 'engine/formats/sniff.ts']
  const formats = [...within('engine/contracts'), ...within('engine/diff')]
  const offending = offendingImports(formats, (source, entry) => registries.includes(target(source, entry) ?? ''))
  assert.deepEqual(offending, [])
})

const products = sources.filter(({ path }) => /^(?:engine|gateway)\//.test(path))

test('a table that is asked by text has no rows of Object.prototype', () => {
  const plain = products.flatMap(({ path, code }) =>
    [...code.matchAll(/^(?:export )?const (\w+): [^=]*?Record<\s*(?:string|Keyword)\b[^=]*? = \{/gm)].map(
      ([, name]) => `${path}: ${name}`,
    ),
  )
  assert.deepEqual(plain, [], 'use lookupTable, a Map or a closed union of names')
})

/** Plain objects that are filled by names which the product itself states. */
const FILLED_BY_OWN_NAMES = [
  'engine/contracts/agent-tools/tools.ts: value',
  'engine/contracts/malformed-parts.ts: forms',
  'engine/contracts/mcp-manifest.ts: lists',
  'engine/contracts/protobuf/features.ts: own',
  'engine/diff/openapi/attributes.ts: attributes',
  'engine/policy/pack-members.ts: levels',
  'engine/rules/judging/filled-properties.ts: filled',
  'engine/rules/judging/schema-proofs.ts: isKnown',
  'gateway/api/openapi.ts: inner',
  'gateway/api/openapi.ts: paths',
  'gateway/api/routes/ledger.ts: members',
  'gateway/console/pages/ledger.ts: texts',
  'gateway/protocols/scm/action.ts: own',
  'gateway/settings/defaults.ts: filled',
]

test('no plain object is filled by names of others: an assignment to `__proto__` makes no member', () => {
  const filled = products.flatMap(({ path, code }) =>
    [...code.matchAll(/(?:const|let) (\w+)(?:: [^=\n]+)? = \{/g)].flatMap(([, name = '']) =>
      new RegExp(`(?<![\\w.])${name}\\[[a-z]\\w*\\] (?:\\?\\?|\\|\\|)?= `).test(code) ? [`${path}: ${name}`] : [],
    ),
  )
  assert.deepEqual([...new Set(filled)].sort(), FILLED_BY_OWN_NAMES, 'use Object.fromEntries, a Map or no prototype')
})

test('no member is looked for with `in` by a name that is not written there', () => {
  const asked = products.flatMap(({ path, code }) =>
    [...code.matchAll(/^.*[\w\])] in [a-z_]\w*.*$/gm)]
      // Prose within quotes, and `for (const name in …)`, which asks for nothing.
      .map(([line]) => line.replaceAll(/'[^']*'|`[^`]*`|"[^"]*"|\/[^/\n]+\/[a-z]*/g, "''"))
      .filter((line) => /[\w\])] in (?!keyof)[a-z_]\w*/.test(line) && !/for \((?:const|let) \w+ in /.test(line))
      .map((line) => `${path}: ${line.trim()}`),
  )
  assert.deepEqual(asked, [], 'use Object.hasOwn')
})

/** What a script of package.json hands to the test runner: paths and patterns of files. */
function testFilesOf(script: 'test:fast' | 'test:isolated'): ReadonlySet<string> {
  const patterns = rootManifest.scripts[script].split(' ').filter((word) => word.includes('.test.ts'))
  return new Set(
    globSync(
      patterns.map((word) => word.replaceAll('"', '')),
      { cwd: ROOT },
    ),
  )
}

test('`npm test` runs every test file', () => {
  assert.equal(rootManifest.scripts.test, 'npm run test:fast && npm run test:isolated')
  const run = testFilesOf('test:fast').union(testFilesOf('test:isolated'))
  assert.ok(run.size > 500, 'the patterns are found')
  const left = globSync('test/**/*.test.ts', { cwd: ROOT }).filter((file) => !run.has(file))
  assert.deepEqual(left, [], 'no pattern of test:fast or test:isolated holds them')
})

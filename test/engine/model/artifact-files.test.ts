/** Files that an artifact carries: the documents' own names decide what a reference means, in every format that refers to files. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { fileMistakes, inputFingerprint } from '../../../engine/base.ts'
import {
  ARTIFACT_TYPES,
  canonicalJson,
  changeSetDigests,
  compare,
  DEFAULT_DOCUMENT_LIMITS,
  type Artifact,
  type ArtifactFiles,
  type ArtifactType,
  type CompareOptions,
} from '../../../engine/internal.ts'
import { sha256 } from '../../fakes/keys.ts'

/** A document that refers to one file, and two texts of that file of which the second breaks. */
interface Referring {
  readonly document: (reference: string) => string
  readonly file: string
  readonly broken: string
  readonly reference: string
  readonly name: string
}

const openapi = (reference: string): string =>
  JSON.stringify({
    openapi: '3.0.3',
    info: { title: 'a', version: '1' },
    paths: {
      '/pets': {
        get: {
          responses: { '200': { description: 'ok', content: { 'application/json': { schema: { $ref: reference } } } } },
        },
      },
    },
  })
const asyncapi = (reference: string): string =>
  JSON.stringify({
    asyncapi: '2.6.0',
    info: { title: 'a', version: '1' },
    channels: { pets: { subscribe: { message: { payload: { $ref: reference } } } } },
  })
const schema = (reference: string): string =>
  JSON.stringify({ type: 'object', properties: { pet: { $ref: reference } } })
const PET = JSON.stringify({ type: 'object', required: ['name'], properties: { name: { type: 'string' } } })
const BROKEN_PET = JSON.stringify({ type: 'object', required: ['name'], properties: { name: { type: 'integer' } } })
const PROTO = 'syntax = "proto3"; package shop; message Pet { string name = 1; }'

const FORMATS: Readonly<Partial<Record<ArtifactType, Referring>>> = {
  openapi: { document: openapi, file: PET, broken: BROKEN_PET, reference: './parts/pet.json', name: 'parts/pet.json' },
  asyncapi: {
    document: asyncapi,
    file: PET,
    broken: BROKEN_PET,
    reference: './parts/pet.json',
    name: 'parts/pet.json',
  },
  json_schema: {
    document: schema,
    file: PET,
    broken: BROKEN_PET,
    reference: './parts/pet.json',
    name: 'parts/pet.json',
  },
  protobuf: {
    document: (reference) => `syntax = "proto3"; package shop; import "${reference}"; message Order { Pet pet = 1; }`,
    file: PROTO,
    broken: PROTO.replace('string name', 'int32 name'),
    reference: 'parts/pet.proto',
    name: 'parts/pet.proto',
  },
}

const TYPES = ARTIFACT_TYPES.filter((type) => Object.hasOwn(FORMATS, type))

function referring(type: ArtifactType): Referring {
  const format = FORMATS[type]
  assert.ok(format !== undefined)
  return format
}

function artifact(type: ArtifactType, changes: Partial<Artifact> = {}): Artifact {
  const { document, reference } = referring(type)
  return { id: 'a', type, before: document(reference), after: document(reference), ...changes }
}

const outcome = (given: Artifact, options: CompareOptions = {}) => {
  const compared = compare(given, options, sha256)
  assert.ok(compared.ok, compared.ok ? '' : compared.problem.message)
  return {
    breaking: compared.value.groups.filter(({ level }) => level === 'breaking').length,
    unresolved: compared.value.unresolved.map(({ reference }) => reference),
  }
}

for (const type of TYPES)
  suite(`files of ${type}`, () => {
    const { document, file, broken, reference, name } = referring(type)

    test('without its file the contract is not compared whole', () => {
      assert.ok(outcome(artifact(type)).unresolved.length > 0)
      assert.ok(outcome(artifact(type, { files: { [`other-${name}`]: file } })).unresolved.length > 0)
    })

    test('a file that changes is judged, one that stays is read on both sides', () => {
      assert.deepEqual(outcome(artifact(type, { files: { [name]: file } })), { breaking: 0, unresolved: [] })
      const changed = outcome(artifact(type, { files: { [name]: { before: file, after: broken } } }))
      assert.ok(changed.breaking > 0)
      assert.deepEqual(changed.unresolved, [])
    })

    test('a file that one side lacks is unresolved on that side', () => {
      for (const side of ['before', 'after'] as const)
        assert.ok(outcome(artifact(type, { files: { [name]: { [side]: file } } })).unresolved.length > 0, side)
    })

    test('names start where the path of the document starts, or with ./ at the document', () => {
      const isProto = type === 'protobuf'
      const path = isProto ? 'api/order.proto' : 'api/contract.json'
      const full = `api/${name}`
      const own = isProto ? document(full) : document(reference)
      const given = { path, before: own, after: own }
      const isFound = (files: ArtifactFiles) => outcome(artifact(type, { ...given, files })).unresolved.length === 0
      assert.equal(isFound({ [full]: file }), true)
      assert.equal(isFound({ [`./${name}`]: file }), true)
      assert.equal(isFound({ [name]: file }), false)
      assert.equal(isFound({ [`../${full}`]: file }), true)
    })

    test('names with two meanings are refused, and the comparison does not look at them', () => {
      const documentPath = type === 'protobuf' ? 'api/order.proto' : 'api/contract.json'
      for (const written of [
        '',
        '.',
        '..',
        '/etc/passwd',
        'a//b.proto',
        'a/./b.proto',
        'a/../b.proto',
        'a\\b.proto',
        'a\n.proto',
        'a\u0085.proto',
        documentPath,
        './' + documentPath.slice(4),
      ]) {
        const carrier = artifact(type, { path: documentPath, files: { [written]: file } })
        assert.equal(fileMistakes(carrier).length, 1, JSON.stringify(written))
        assert.equal(compare(carrier, {}, sha256).ok, false)
      }
      const twice = artifact(type, { files: { [name]: file, [`./${name}`]: broken } })
      assert.match(fileMistakes(twice)[0]?.message ?? '', /is the same file as/)
      assert.equal(fileMistakes(artifact(type, { files: { [name]: {} } })).length, 1)
    })

    test('names of Object.prototype are names like any other', () => {
      for (const word of ['constructor', '__proto__', 'toString', 'hasOwnProperty', 'valueOf']) {
        const called = type === 'protobuf' ? `${word}.proto` : word
        const text = document(called)
        const given = { before: text, after: text }
        assert.ok(
          outcome(artifact(type, { ...given, files: { [`other-${called}`]: file } })).unresolved.length > 0,
          word,
        )
        const files = Object.fromEntries([[called, file]])
        assert.deepEqual(outcome(artifact(type, { ...given, files })), { breaking: 0, unresolved: [] }, word)
      }
    })

    test('one side and its files are bounded together', () => {
      const limits = { ...DEFAULT_DOCUMENT_LIMITS, maxLength: document(reference).length + file.length - 1 }
      const compared = compare(artifact(type, { files: { [name]: file } }), { limits }, sha256)
      assert.equal(compared.ok ? '' : compared.problem.code, 'ARTIFACT_OVER_LIMIT')
    })

    test('identity: texts, names and the path of the document', () => {
      const base = artifact(type, { path: 'x.proto', files: { [name]: file } })
      const variants: readonly Artifact[] = [
        base,
        artifact(type),
        { ...base, path: 'y.proto' },
        { ...base, files: { [name]: broken } },
        { ...base, files: { [name]: { before: file, after: broken } } },
        { ...base, files: { [`./${name}`]: file } },
      ]
      for (const member of ['inputFingerprint', 'artifactDigest', 'submittedSetDigest'] as const) {
        const digests = variants.map((variant) => changeSetDigests([variant], sha256)[member])
        assert.equal(new Set(digests).size, variants.length, member)
      }
      assert.equal(
        inputFingerprint([artifact(type, { files: {} })], sha256),
        inputFingerprint([artifact(type)], sha256),
      )
    })
  })

test('a document that a file refers back to is known by its own name', () => {
  const root = {
    openapi: '3.1.0',
    info: { title: 'a', version: '1' },
    paths: { '/pets': { $ref: 'parts/pets.yaml' } },
    components: { schemas: { Pet: { type: 'string' } } },
  }
  const parts =
    "get: { responses: { '200': { description: ok, content: { application/json: { schema: { $ref: '../../api/root.json#/components/schemas/Pet' } } } } } }\n"
  const after = JSON.stringify({ ...root, components: { schemas: { Pet: { type: 'integer' } } } })
  const given = { id: 'a', type: 'openapi', path: 'api/root.json', before: JSON.stringify(root), after } as const
  assert.deepEqual(outcome({ ...given, files: { 'api/parts/pets.yaml': parts } }), { breaking: 1, unresolved: [] })
})

test('types whose documents refer to no files take none', () => {
  const others = ARTIFACT_TYPES.filter((type) => !TYPES.includes(type))
  assert.deepEqual(others, ['graphql', 'mcp_manifest', 'agent_tools', 'k8s_crd'])
  for (const type of others) {
    const given: Artifact = { id: 'a', type, before: '{}', after: '{}', files: { 'a.json': '{}' } }
    assert.match(fileMistakes(given)[0]?.message ?? '', /are not taken for the type/)
    const compared = compare(given, {}, sha256)
    assert.match(compared.ok ? '' : compared.problem.message, /are not taken/)
  }
})

test('digests with files are those of the recipe in docs/reference/hashes.md', () => {
  const given: Artifact = {
    id: 'a',
    type: 'openapi',
    path: 'api/a.yaml',
    before: 'b',
    after: 'c',
    files: { 'api/x.yaml': { before: 'd', after: 'e' }, './y.yaml': 'f' },
  }
  const { path, files } = given
  const side = (text: string, x: string) =>
    sha256(canonicalJson({ profile: 'artifact-side.v1', path, text, files: { 'api/x.yaml': x, './y.yaml': 'f' } }))
  assert.equal(changeSetDigests([given], sha256).artifactDigest, `sha256:${sha256(side('b', 'd') + side('c', 'e'))}`)
  const row = { id: 'a', type: 'openapi', before: 'b', after: 'c', path, files }
  assert.equal(
    inputFingerprint([given], sha256),
    `sha256:${sha256(canonicalJson({ profile: 'change-set.v1', artifacts: [row] }))}`,
  )
  // Written out, so that a change of the recipe itself is seen.
  assert.equal(
    changeSetDigests([given], sha256).artifactDigest,
    'sha256:3b67fce830cfd1ca7f5b1ab5921706ba6195051e5203c1bcf39a11720e5cdc23',
  )
  assert.equal(
    inputFingerprint([given], sha256),
    'sha256:d29fb1062ece42342846958744dc03653e035cf86e0ae5480b921f47b7247f27',
  )
})

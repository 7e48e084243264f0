/**
 * Every single edit of a file with fields of every kind, in each syntax. The reader is protobuf-es, with the descriptors of buf. Bytes
 * or JSON that one side writes and the other reads as another value, or not at all, are a proof. A breaking or
 * dangerous change must then be reported. Every edit runs with SHARE=1.
 */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import {
  createFileRegistry,
  fromBinary,
  fromJson,
  toBinary,
  toJson,
  type DescMessage,
  type FileRegistry,
} from '@bufbuild/protobuf'
import { FileDescriptorSetSchema } from '@bufbuild/protobuf/wkt'
import { Random } from '../../soundness/random.ts'
import { everyEdit } from '../edits.ts'
import { comparedProtobuf } from './contracts.ts'
import { drawnMessage, misread, valuesOf } from './messages.ts'
import { FURTHER, plannedFile, textOf, type Syntax } from './plans.ts'

/** One in so many edits runs. */
const SHARE = Number(process.env['SHARE'] ?? 60)
const SEED = Number(process.env['SEED'] ?? 1)
const MESSAGES = 40
const BUF = join(import.meta.dirname, '../../../node_modules/.bin/buf')

interface Head {
  readonly what: string
  /** As a file of the package `p`. */
  readonly text: string
}

function headsOf(syntax: Syntax): Map<string, Head> {
  const heads = new Map<string, Head>()
  let index = SEED
  for (const { what, document } of everyEdit(plannedFile(syntax), FURTHER)) {
    index += 1
    const text = index % SHARE === 0 ? textOf(document, 'p') : null
    if (text !== null) heads.set(`h${index}`, { what, text })
  }
  return heads
}

/** The descriptors of the base and of all heads that are valid files. The others are taken out. */
function compiled(t: TestContext, base: string, heads: Map<string, Head>): FileRegistry {
  const folder = mkdtempSync(join(tmpdir(), 'protobuf-edits-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const write = (name: string, text: string): void =>
    writeFileSync(join(folder, `${name}.proto`), text.replace('package p;', `package ${name};`))
  writeFileSync(join(folder, 'buf.yaml'), 'version: v2\nmodules: [{ path: . }]\n')
  write('base', base)
  for (const [name, { text }] of heads) write(name, text)
  const image = join(folder, 'image.binpb')
  for (;;) {
    const refused = refusedFiles(folder, image)
    if (refused.size === 0) return createFileRegistry(fromBinary(FileDescriptorSetSchema, readFileSync(image)))
    for (const name of refused) {
      assert.ok(heads.delete(name), `buf refuses ${name}`)
      rmSync(join(folder, `${name}.proto`))
    }
  }
}

function refusedFiles(folder: string, image: string): ReadonlySet<string> {
  try {
    execFileSync(BUF, ['build', folder, '-o', image], { stdio: 'pipe', maxBuffer: 2 ** 28 })
    return new Set()
  } catch (error) {
    const text = error instanceof Error && 'stderr' in error ? String(error.stderr) : ''
    const names = new Set([...text.matchAll(/(\w+)\.proto:/g)].map(([, name = '']) => name))
    if (names.size === 0) throw error
    return names
  }
}

/** What a reader of one side gets wrong of the messages of the other; null: nothing was found. */
function proofOf(base: DescMessage, head: DescMessage | undefined): string | null {
  if (head === undefined) return 'the message is gone'
  for (let count = 0; count < MESSAGES; count += 1) {
    for (const [writer, reader] of [
      [base, head],
      [head, base],
    ] as const) {
      const bytes = toBinary(writer, drawnMessage(writer, new Random(SEED, count)))
      const message = fromBinary(writer, bytes)
      const written = valuesOf(writer, message)
      for (const read of [
        () => fromBinary(reader, bytes),
        () => fromJson(reader, toJson(writer, message), { ignoreUnknownFields: true }),
      ]) {
        const found = outcome(() => misread(written, valuesOf(reader, read())))
        if (found !== null) return found
      }
    }
  }
  return null
}

function outcome(read: () => string | null): string | null {
  try {
    return read()
  } catch (error) {
    return error instanceof Error ? error.message : 'an error'
  }
}

for (const syntax of ['proto2', 'proto3', '2023'] as const) {
  test(`${syntax}: an edit by which messages are read otherwise is not information`, (t) => {
    const base = textOf(plannedFile(syntax), 'p')
    assert.ok(base !== null)
    const heads = headsOf(syntax)
    const registry = compiled(t, base, heads)
    const message = registry.getMessage('base.M')
    assert.ok(message !== undefined)
    const missed: string[] = []
    let proofs = 0
    for (const [name, { what, text }] of heads) {
      const proof = proofOf(message, registry.getMessage(`${name}.M`))
      if (proof === null) continue
      proofs += 1
      const groups = comparedProtobuf(base, text).groups
      if (groups.every(({ level }) => level === 'info')) {
        missed.push([what, proof, text, ...groups.map(({ rule }) => rule)].join('\n  '))
      }
    }
    t.diagnostic(JSON.stringify({ edits: heads.size, proofs }))
    assert.deepEqual(missed.slice(0, 3), [], `${missed.length} of ${proofs} are missed`)
    assert.ok(proofs > heads.size / 3, `only ${proofs} of ${heads.size} are proofs`)
  })
}

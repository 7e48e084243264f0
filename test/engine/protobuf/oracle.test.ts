/** Our reading of real and recorded .proto files beside that of protobufjs: the same names, numbers, types, labels and methods. */
import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import protobuf from 'protobufjs'
import { DEFAULT_DOCUMENT_LIMITS } from '../../../engine/formats/compare.ts'
import { readProtoFile } from '../../../engine/contracts/protobuf/file.ts'
import type { ProtoEnum, ProtoField, ProtoFile, ProtoMessage } from '../../../engine/contracts/protobuf/model.ts'

const SHARED = new URL('../../../../shared/', import.meta.url).pathname
const FOLDERS = [join(SHARED, 'conformance/protobuf'), join(SHARED, 'corpus/protobuf')]

/** One line for each declaration. */
function linesOfOurs(file: ProtoFile): readonly string[] {
  const lines: string[] = []
  const addField = (field: ProtoField, owner: string): void => {
    const repeated = field.label === 'repeated' ? 'repeated ' : ''
    lines.push(`${repeated}field ${owner}.${field.name} = ${field.number}`)
  }
  const addEnum = ({ fullName, values }: ProtoEnum): void => {
    for (const { name, number } of values) lines.push(`value ${fullName}.${name} = ${number}`)
  }
  const addMessage = (message: ProtoMessage): void => {
    if (message.isMapEntry) return
    lines.push(`message ${message.fullName}`)
    for (const field of message.fields) addField(field, message.fullName)
    for (const field of message.extensions) addField(field, message.fullName)
    for (const { fullName } of message.oneofs) lines.push(`oneof ${fullName}`)
    message.enums.forEach(addEnum)
    message.messages.forEach(addMessage)
  }
  file.messages.forEach(addMessage)
  file.enums.forEach(addEnum)
  for (const field of file.extensions) addField(field, file.package)
  for (const { fullName, methods } of file.services) {
    for (const { name, input, output, isClientStreaming, isServerStreaming } of methods) {
      lines.push(`rpc ${fullName}.${name} ${isClientStreaming} ${input} ${isServerStreaming} ${output}`)
    }
  }
  return lines.sort()
}

function linesOfTheirs(root: protobuf.Root): readonly string[] {
  const lines: string[] = []
  const addField = (field: protobuf.Field, owner: string): void => {
    lines.push(`${field.repeated ? 'repeated ' : ''}field ${owner}.${field.name} = ${field.id}`)
  }
  const walk = (space: protobuf.NamespaceBase): void => {
    const name = space.fullName.replace(/^\./, '')
    if (space instanceof protobuf.Type) {
      lines.push(`message ${name}`)
      // An extension is listed a second time, as a field of the message it extends.
      for (const field of space.fieldsArray) if (field.declaringField === null) addField(field, name)
      // What it makes of `optional` in proto3 is not in the text.
      for (const oneof of space.oneofsArray) if (!oneof.name.startsWith('_')) lines.push(`oneof ${name}.${oneof.name}`)
    }
    if (space instanceof protobuf.Service) {
      for (const method of space.methodsArray) {
        const { requestStream = false, requestType, responseStream = false, responseType } = method
        lines.push(`rpc ${name}.${method.name} ${requestStream} ${requestType} ${responseStream} ${responseType}`)
      }
    }
    for (const nested of space.nestedArray) {
      if (nested instanceof protobuf.Field) addField(nested, name)
      else if (nested instanceof protobuf.Enum) {
        const full = nested.fullName.replace(/^\./, '')
        for (const [value, number] of Object.entries(nested.values)) lines.push(`value ${full}.${value} = ${number}`)
      } else if (nested instanceof protobuf.Namespace) walk(nested)
    }
  }
  walk(root)
  return lines.sort()
}

test('every recorded file is read as protobufjs reads it', (t) => {
  if (!FOLDERS.every((folder) => existsSync(folder)))
    return t.skip('the recorded files lie beside the checkout and are absent')
  let compared = 0
  for (const folder of FOLDERS) {
    for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
      if (!name.endsWith('.proto')) continue
      const text = readFileSync(join(folder, name), 'utf8')
      const ours = readProtoFile({ path: name, at: '', text }, DEFAULT_DOCUMENT_LIMITS)
      assert.ok(ours.ok, name)
      const theirs = protobuf.parse(text, new protobuf.Root(), { keepCase: true })
      assert.equal(ours.value.file.package, theirs.package ?? '', name)
      assert.deepEqual(
        [...new Set(ours.value.file.imports)].sort(),
        [...new Set([...(theirs.imports ?? []), ...(theirs.weakImports ?? [])])].sort(),
        name,
      )
      assert.deepEqual(linesOfOurs(ours.value.file), linesOfTheirs(theirs.root), name)
      compared += 1
    }
  }
  assert.ok(compared > 300, `only ${compared} files`)
})

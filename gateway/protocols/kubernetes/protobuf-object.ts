/**
 * Objects in the protobuf form of the Kubernetes API (application/vnd.kubernetes.protobuf), which typed clients send:
 * only the fields that identify the object. The API server itself reports the effect of the write, in JSON.
 */
import { recordIn, textIn } from '../../json/unchecked-json.ts'
import { createMessageReader, type MessageValue } from '../common/protobuf-message.ts'
import { isJsonObject } from '../../json/strict-json.ts'

/** Every serialised object begins with it, followed by a `runtime.Unknown`. */
const MAGIC = Buffer.from([0x6b, 0x38, 0x73, 0x00])

/** Field numbers of k8s.io/apimachinery; every object of the API has its metadata in field 1. */
const read = createMessageReader({
  Unknown: { typeMeta: [1, 'TypeMeta'], raw: [2, 'bytes'], contentEncoding: [3, 'string'], contentType: [4, 'string'] },
  TypeMeta: { apiVersion: [1, 'string'], kind: [2, 'string'] },
  Anything: { metadata: [1, 'ObjectMeta'] },
  Secret: { metadata: [1, 'ObjectMeta'], type: [3, 'string'] },
  Eviction: { metadata: [1, 'ObjectMeta'], deleteOptions: [2, 'DeleteOptions'] },
  ObjectMeta: {
    name: [1, 'string'],
    generateName: [2, 'string'],
    namespace: [3, 'string'],
    annotations: [12, 'Annotation[]'],
  },
  Annotation: { key: [1, 'string'], value: [2, 'string'] },
  DeleteOptions: { dryRun: [5, 'string[]'] },
})

type ProtobufObject =
  | { readonly ok: true; readonly value: MessageValue }
  | { readonly ok: false; readonly message: string }

/**
 * In the shape of its JSON form: kind, metadata, and the options that are read. @param isSecret by its path, since the
 * object need not name its kind
 */
export function readProtobufObject(bytes: Buffer, isSecret = false): ProtobufObject {
  if (!bytes.subarray(0, MAGIC.length).equals(MAGIC))
    return unreadableProtobuf('it does not begin as such an object does')
  const envelope = read('Unknown', bytes.subarray(MAGIC.length))
  if (!envelope.ok) return envelope
  const { typeMeta, raw, contentEncoding, contentType } = envelope.value
  if (isGiven(contentEncoding) || isGiven(contentType)) return unreadableProtobuf('it holds an object in another form')
  const kind = textIn(recordIn(typeMeta)['kind']) ?? ''
  const message = OWN_FORMS.has(kind) ? kind : isSecret ? 'Secret' : 'Anything'
  const object = read(message, Buffer.isBuffer(raw) ? raw : Buffer.alloc(0))
  if (!object.ok) return object
  const metadata = isJsonObject(object.value['metadata']) ? object.value['metadata'] : null
  const named = metadata === null ? null : withAnnotations(metadata)
  if (metadata !== null && named === null) return unreadableProtobuf('an annotation occurs more than once')
  return {
    ok: true,
    value: { ...object.value, ...(kind === '' ? {} : { kind }), ...(named === null ? {} : { metadata: named }) },
  }
}

const OWN_FORMS: ReadonlySet<string> = new Set(['Eviction', 'DeleteOptions'])

function unreadableProtobuf(reason: string): ProtobufObject {
  return { ok: false, message: `The protobuf object cannot be read: ${reason}.` }
}

function isGiven(value: unknown): boolean {
  return typeof value === 'string' && value !== ''
}

/** A map is a list of entries on the wire; null when a key is there twice. */
function withAnnotations(metadata: MessageValue): MessageValue | null {
  const { annotations, ...members } = metadata
  const entries = (Array.isArray(annotations) ? annotations : [])
    .filter(isJsonObject)
    .map(({ key, value }) => [textIn(key) ?? '', textIn(value) ?? ''] as const)
  const map = new Map(entries)
  return map.size < entries.length ? null : { ...members, annotations: Object.fromEntries(map) }
}

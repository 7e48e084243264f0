/** What typed clients of the Kubernetes API send: objects in the protobuf form, as the stand-in of the API server reads them. */
import protobuf from 'protobufjs'

export const KUBERNETES_PROTOBUF = 'application/vnd.kubernetes.protobuf'

/** Field numbers of Kubernetes' generated.proto files, of fields as many as helm and the tests need. */
const FORMS = protobuf.parse(`
  syntax = "proto2";
  message Unknown { optional TypeMeta typeMeta = 1; optional bytes raw = 2; }
  message TypeMeta { optional string apiVersion = 1; optional string kind = 2; }
  message ObjectMeta { optional string name = 1; optional string namespace = 3; optional string resourceVersion = 6; map<string, string> labels = 11; map<string, string> annotations = 12; }
  message Secret { optional ObjectMeta metadata = 1; map<string, bytes> data = 2; optional string type = 3; }
  message Namespace { optional ObjectMeta metadata = 1; }
  message Job { optional ObjectMeta metadata = 1; optional JobSpec spec = 2; }
  message JobSpec { optional PodTemplateSpec template = 6; }
  message PodTemplateSpec { optional PodSpec spec = 2; }
  message PodSpec { repeated Container containers = 2; }
  message Container { optional string name = 1; }
  message ConfigMap { optional ObjectMeta metadata = 1; map<string, string> data = 2; }
`).root

const MAGIC = 'k8s\0'

/** The object as JSON; bytes in it become base64, as the API server writes them. */
export function jsonOfProtobuf(body: Buffer): string {
  if (body.toString('latin1', 0, MAGIC.length) !== MAGIC) throw new Error('the body has not the prefix of the form')
  const envelope = FORMS.lookupType('Unknown')
  const { typeMeta, raw } = envelope.toObject(envelope.decode(body.subarray(MAGIC.length)))
  const { apiVersion, kind }: { readonly apiVersion: string; readonly kind: string } = typeMeta
  // What the stand-in does not keep need not be read whole.
  if (FORMS.get(kind) === null) return JSON.stringify({ apiVersion, kind })
  const form = FORMS.lookupType(kind)
  const object = form.toObject(form.decode(raw), { bytes: String })
  // Typed clients write empty texts for what they leave out.
  const given = Object.entries<unknown>(object['metadata'] ?? {}).filter(([, value]) => value !== '')
  return JSON.stringify({ apiVersion, kind, ...object, metadata: Object.fromEntries(given) })
}

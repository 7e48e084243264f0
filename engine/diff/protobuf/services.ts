/** One service on both sides: its methods by name, their types, streaming, idempotency and options. */
import type { ProtoMethod, ProtoService } from '../../contracts/protobuf/model.ts'
import type { Operation } from '../../model/finding.ts'
import type { ProtoRuleId } from '../../rules/protobuf/rows.ts'
import { compareHttpBindings } from './http-bindings.ts'
import { isEqual } from '../../schema/equality.ts'
import { statedOptions } from './call-options.ts'
import { operationOf } from './affected-rpcs.ts'
import { compareCommonOptions } from './options.ts'
import type { ProtoWalk } from './walk.ts'

/** The types that callers unpack from an operation of `google.longrunning`. */
const OPERATION_TYPES = ['response_type', 'metadata_type'].map(
  (member) => `(google.longrunning.operation_info).${member}`,
)

const JUDGED: ReadonlySet<string> = new Set(['idempotency_level', ...OPERATION_TYPES])

export function compareService(base: ProtoService, head: ProtoService, walk: ProtoWalk): void {
  const before = new Map(base.methods.map((method) => [method.name, method]))
  const after = new Map(head.methods.map((method) => [method.name, method]))
  for (const [name, method] of before) {
    const kept = after.get(name)
    if (kept !== undefined) compareMethod(method, kept, operationOf(head, kept), walk)
    else reportMethod('removed', method, operationOf(base, method), walk)
  }
  for (const [name, method] of after) {
    if (!before.has(name)) reportMethod('added', method, operationOf(head, method), walk)
  }
  const operations = head.methods.map((method) => operationOf(head, method))
  compareCommonOptions(base, head, { reaches: operations }, walk)
}

function reportMethod(
  action: 'added' | 'removed',
  { name, fullName, at }: ProtoMethod,
  operation: Operation,
  walk: ProtoWalk,
): void {
  const change = { rule: `proto-rpc-${action}`, subject: fullName, location: at, name, reaches: [operation] } as const
  walk.add(action === 'removed' ? { ...change, side: 'base', before: name } : { ...change, side: 'head', after: name })
}

interface MethodTrait {
  readonly rule: ProtoRuleId
  readonly valueOf: (method: ProtoMethod) => string
}

const TRAITS: readonly MethodTrait[] = [
  {
    rule: 'proto-rpc-client-streaming-changed',
    valueOf: ({ isClientStreaming }) => (isClientStreaming ? 'a stream' : 'one message'),
  },
  {
    rule: 'proto-rpc-server-streaming-changed',
    valueOf: ({ isServerStreaming }) => (isServerStreaming ? 'a stream' : 'one message'),
  },
  {
    rule: 'proto-rpc-idempotency-changed',
    valueOf: ({ options }) => {
      const level = options.get('idempotency_level')
      return typeof level === 'string' ? level : 'IDEMPOTENCY_UNKNOWN'
    },
  },
]

type AddMethodChange = (rule: ProtoRuleId, before: unknown, after: unknown) => void

function compareMethod(base: ProtoMethod, head: ProtoMethod, operation: Operation, walk: ProtoWalk): void {
  const add: AddMethodChange = (rule, before, after) => {
    const place = { side: 'head', location: head.at, subject: head.fullName, reaches: [operation] } as const
    walk.add({ ...place, rule, name: head.name, before, after })
  }
  const request = [
    walk.base.typeOf(base.input, base.scope).name,
    walk.head.typeOf(head.input, head.scope).name,
  ] as const
  if (request[0] !== request[1]) add('proto-rpc-request-type-changed', ...request)
  const response = [
    walk.base.typeOf(base.output, base.scope).name,
    walk.head.typeOf(head.output, head.scope).name,
  ] as const
  if (response[0] !== response[1]) add('proto-rpc-response-type-changed', ...response)
  for (const { rule, valueOf } of TRAITS) {
    if (valueOf(base) !== valueOf(head)) add(rule, valueOf(base), valueOf(head))
  }
  compareOperationTypes(base, head, add, walk)
  compareHttpBindings(base, head, operation, walk)
  compareCommonOptions(base, head, { judged: JUDGED, reaches: [operation] }, walk)
}

/** A name without a package is one of the package of the rpc (google/longrunning/operations.proto). */
function compareOperationTypes(base: ProtoMethod, head: ProtoMethod, add: AddMethodChange, walk: ProtoWalk): void {
  const [baseOptions, headOptions] = [statedOptions(base), statedOptions(head)]
  for (const option of OPERATION_TYPES) {
    const [before, after] = [baseOptions.get(option) ?? null, headOptions.get(option) ?? null]
    if (isEqual(before, after)) continue
    if (typeof before !== 'string' || typeof after !== 'string') {
      const stated = (value: unknown): unknown => (value === null ? null : { [option]: value })
      add('proto-caller-option-changed', stated(before), stated(after))
    } else if (walk.base.typeOf(before, base.scope).name !== walk.head.typeOf(after, head.scope).name)
      add('proto-rpc-operation-type-changed', before, after)
  }
}

/**
 * Calls of services that a protobuf contract describes, over gRPC, gRPC-Web or Connect. The path names the rpc. Only
 * changes that reach its messages, its options or the contract as a whole decide. The head suffices: messages are
 * streamed unread. An rpc that the contract does not describe is judged by the whole contract.
 */
import { passingAction } from '../common/refusal.ts'
import type { GrpcRoute } from './settings.ts'
import type { RpcTable } from '../../../engine/internal.ts'
import type { BaselineService } from '../../baselines/baselines.ts'
import type { Logger } from '../../telemetry/log.ts'
import type { Action, JudgedAction, ResourceCheck, Recogniser, Refusal } from '../common/action.ts'
import type { Answer, AnswerWatcher } from '../../calls/answer.ts'
import type { JudgedResource } from '../../calls/judged-resource.ts'
import type { Call } from '../../calls/call.ts'
import { basePath, callName, pathOf } from '../common/request-line.ts'
import { readContract, type ContractReading } from '../common/contract-reader.ts'
import { createCurrentContracts, type CurrentContractDeps, type CurrentContracts } from '../common/current-contract.ts'
import { rpcRefusal } from './refusal.ts'

interface GrpcDeps extends CurrentContractDeps {
  readonly baselines: Pick<BaselineService, 'baselineFor'>
  readonly logger: Logger
  readonly contractReading: () => ContractReading
}

type TableRpc = RpcTable['rpcs'][number]
type RpcsByPath = ReadonlyMap<string, TableRpc>

export function createGrpcRecogniser(deps: GrpcDeps): Recogniser<GrpcRoute> {
  const contracts = createCurrentContracts(
    'protobuf',
    async (text) => byPath(await readContract('protobuf', text, deps.contractReading()), deps.logger),
    deps,
  )
  return {
    needsBody: () => false,
    recognise(call) {
      const path = rpcPathOf(call)
      return path !== null && call.route.grpc.pass.includes(serviceOf(path))
        ? passingGrpcCall(call)
        : new RpcAction(call, path, contracts, deps.baselines)
    },
    renderFault: (fault, { headers }) => rpcRefusal(headers, 'reverse', { ...fault, envelope: null, resource: null }),
  }
}

/** `/package.Service/Method`, byte for byte, behind the path of the upstream; null for other paths. */
function rpcPathOf(call: Call<GrpcRoute>): string | null {
  const path = pathOf(call)
  const base = basePath(call.route)
  return path.startsWith(`${base}/`) ? path.slice(base.length) : null
}

/** Of `/package.Service/Method`. */
function serviceOf(path: string): string {
  return path.slice(1, Math.max(1, path.lastIndexOf('/')))
}

function byPath({ rpcs, missing }: RpcTable, logger: Logger): RpcsByPath {
  if (missing.length > 0)
    logger.warn(
      { event: 'contract.imports_missing', files: missing.slice(0, 20) },
      'protobuf contract imports files that are not part of it, so changes in them are not seen: name the folder that holds all of them',
    )
  return new Map(rpcs.map((rpc) => [rpc.path, rpc]))
}

class RpcAction implements JudgedAction {
  readonly kind = 'judge'
  readonly #call: Call<GrpcRoute>
  readonly #path: string | null
  readonly #contracts: CurrentContracts<RpcsByPath>
  readonly #baselines: GrpcDeps['baselines']

  constructor(
    call: Call<GrpcRoute>,
    path: string | null,
    contracts: CurrentContracts<RpcsByPath>,
    baselines: GrpcDeps['baselines'],
  ) {
    this.#call = call
    this.#path = path
    this.#contracts = contracts
    this.#baselines = baselines
  }

  get name(): string {
    return callName(this.#call)
  }

  async gather(): Promise<readonly ResourceCheck[]> {
    const { route } = this.#call
    const { contract, index } = await this.#contracts.of(route)
    const pinned = await this.#baselines.baselineFor(route, contract)
    const before = pinned.digest === contract.digest ? index : await this.#contracts.indexOf(route, pinned)
    const resource = this.#resource(before, index)
    return [{ resource, basis: { kind: 'contract', offered: contract, isCovered: () => true } }]
  }

  /** An rpc of either side: a removed one is judged by its removal. */
  #resource(before: RpcsByPath, now: RpcsByPath): JudgedResource {
    const { route } = this.#call
    const path = this.#path ?? ''
    const sides = [now.get(path), before.get(path)].filter((rpc) => rpc !== undefined)
    const [rpc] = sides
    if (rpc === undefined) return { name: this.name, target: route.name, scope: null }
    const carriesAny = sides.some((side) => side.carriesAny)
    const files = [...new Set(sides.flatMap((side) => side.files))]
    const scope = { method: rpc.exchange, path, carriesAny, files }
    return { name: path.slice(1), target: route.name + path, scope }
  }

  watch(): AnswerWatcher | null {
    return null
  }

  refuse(refusal: Refusal): Answer {
    return rpcRefusal(this.#call.headers, this.#call.trafficPath, refusal)
  }
}

/** Health watches and reflection use streams without an end. */
function passingGrpcCall(call: Call<GrpcRoute>): Action {
  const passed = passingAction(callName(call), (refusal) => rpcRefusal(call.headers, call.trafficPath, refusal))
  return { ...passed, isStanding: true }
}

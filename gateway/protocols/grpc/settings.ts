/** The services of a gRPC server that are not judged by the contract. Part of the configuration schema. */
import { CONTRACT_MEMBERS, type ProtocolSettings, type RouteWith } from '../common/protocol-settings.ts'
import type { Static } from 'typebox'
import { Type } from '../../../engine/base.ts'
import { strict } from '../../settings/fields.ts'

const GrpcSection = strict(
  {
    pass: Type.Array(Type.String({ pattern: '^[A-Za-z_]\\w*(?:\\.[A-Za-z_]\\w*)*$' }), {
      default: [
        'grpc.health.v1.Health',
        'grpc.reflection.v1.ServerReflection',
        'grpc.reflection.v1alpha.ServerReflection',
      ],
      description:
        'protocol grpc: services, by their full names, whose calls pass unjudged. Default: health checks and server reflection, which describe the server and change nothing.',
    }),
  },
  'Calls over gRPC, gRPC-Web and Connect.',
)
type GrpcSection = Static<typeof GrpcSection>

const sections = { grpc: GrpcSection }
export type GrpcRoute = RouteWith<typeof sections>

export const grpcSettings = {
  sections,
  contractMembers: CONTRACT_MEMBERS,
  contractType: 'protobuf',
  takesContractFolders: true,
  currentContract:
    'the .proto file, or the folder of them, that the upstream offers now: contract: { current: { file: … } }',
} satisfies ProtocolSettings<typeof sections>

/** Which services of a gRPC server are no business of the contract. Part of the configuration's schema. */
import type { Static } from 'typebox'
import { Type } from '../../../engine/base.ts'
import { strict } from '../../settings/fields.ts'

export const GrpcRoute = strict(
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
  'Calls by gRPC, gRPC-Web and Connect.',
)
export type GrpcRoute = Static<typeof GrpcRoute>

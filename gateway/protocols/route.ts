/** Routes of all protocols: their schema, and the union of the routes of each protocol. */
import type { Static, TObject } from 'typebox'
import { Type } from '../../engine/base.ts'
import {
  ROUTE_CONNECTION,
  ROUTE_START,
  ROUTE_TLS,
  ROUTE_VALIDATION,
  type Protocol,
  type Route,
} from '../routing/route.ts'
import { PROTOCOLS } from './settings.ts'

const { kubernetes, mcp, argocd, npm, grpc, graphql, llm, mapped, github } = PROTOCOLS

/** In the order of docs/config.md. A section of another protocol is found by `foreignSections`, which can say whose it is. */
export const RouteSchema = Type.Object(
  {
    ...ROUTE_START,
    ...kubernetes.sections,
    ...mcp.sections,
    ...argocd.sections,
    ...ROUTE_VALIDATION,
    ...npm.sections,
    ...grpc.sections,
    ...graphql.sections,
    ...llm.sections,
    ...mapped.sections,
    ...ROUTE_CONNECTION,
    ...github.sections,
    ...ROUTE_TLS,
  },
  { additionalProperties: false },
)

/** A route of one protocol: the settings of every route, and the sections of that protocol. */
export type RouteOf<Name extends Protocol> = Route &
  Static<TObject<(typeof PROTOCOLS)[Name]['sections']>> & { readonly protocol: Name }

/** Discriminated by `protocol`. */
export type RouteConfig = { readonly [Name in Protocol]: RouteOf<Name> }[Protocol]

/**
 * What belongs to the tenant of a hub caller. Routes of sidecars are stored as `TENANT:ROUTE`, so two tenants may have routes of
 * one name. Rows with a tenant must have that of the caller.
 */
import { GatewayError } from '../errors/errors.ts'
import { LOCAL_TENANT } from '../callers/api-keys.ts'
import { sha256Hex } from '../runtime/hash.ts'

export interface TenantScope {
  readonly tenant: string
  /** The tenant of the caller, which it may also call `local`. Throws FORBIDDEN when the row is of another tenant. */
  readonly owned: (tenant: string) => string
  /** The name under which the hub stores a route or a target of one. */
  readonly stored: (name: string) => string
  /** The caller's own name of it. Null: it is of another tenant. */
  readonly own: (name: string) => string | null
  /** A secret of this tenant, made from one of the installation: no tenant learns that of another. */
  readonly secret: (of: string) => string
}

const SEPARATOR = ':'

export function tenantScope(tenant: string): TenantScope {
  const prefix = tenant + SEPARATOR
  return {
    tenant,
    owned: (named) => {
      if (isOwned({ tenant }, named)) return tenant
      throw new GatewayError('FORBIDDEN', 'The row is of another tenant than the caller.')
    },
    stored: (name) => prefix + name,
    own: (name) => (name.startsWith(prefix) ? name.slice(prefix.length) : null),
    secret: (of) => sha256Hex(JSON.stringify(['preflight hub tenant secret', tenant, of])),
  }
}

/** Whether a row that names this tenant is the caller's own. */
export function isOwned({ tenant }: Pick<TenantScope, 'tenant'>, named: string): boolean {
  return named === tenant || named === LOCAL_TENANT
}

/** A name as it is stored, or the null that some rows have in place of a route. */
export function storedOrNull({ stored }: TenantScope, name: string | null): string | null {
  return name === null ? null : stored(name)
}

/** A row as its tenant knows it. */
export function withOwnRoute<Row extends { readonly route: string | null }>(scope: TenantScope, row: Row): Row {
  return { ...row, route: row.route === null ? null : (scope.own(row.route) ?? row.route) }
}

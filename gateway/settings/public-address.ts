/** Addresses of this gateway's own pages and resources, as its clients reach them. */

/** The part of the configuration that addresses are made from. */
export interface AddressConfig {
  readonly public_url?: string
  readonly console: { readonly enabled: boolean }
}

/** A full URL when `public_url` is configured, else the path. @param path without a slash at its start */
export function publicAddress(path: string, { public_url: publicUrl }: Pick<AddressConfig, 'public_url'>): string {
  return publicUrl === undefined
    ? `/${path}`
    : new URL(path, publicUrl.endsWith('/') ? publicUrl : `${publicUrl}/`).href
}

/**
 * A page of the console. Null: clients do not know its address, there is no console, or `public_url` has a path: the links of the
 * console start at the root of its host.
 */
export function pageAddress(path: string, config: AddressConfig): string | null {
  const { public_url: publicUrl } = config
  if (publicUrl === undefined || !config.console.enabled || new URL(publicUrl).pathname !== '/') return null
  return publicAddress(`console/${path}`, config)
}

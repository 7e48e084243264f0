/** Addresses of listeners: HOST:PORT as configuration writes it. */

export interface Address {
  readonly host: string
  readonly port: number
}

/** `[::1]:80` → host `::1`. The form has been checked by the schema. */
export function parseAddress(text: string): Address {
  const colon = text.lastIndexOf(':')
  return { host: text.slice(0, colon).replace(/^\[|\]$/g, ''), port: Number(text.slice(colon + 1)) }
}

export function formatAddress({ host, port }: Address): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`
}

export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127\.\d+\.\d+\.\d+$/.test(host)
}

/** A host that stands for every interface. */
export function isWildcard(host: string): boolean {
  return host === '0.0.0.0' || host === '::'
}

/** Which `store.url` names a hub. Apart from the connection, so that a start without a hub loads nothing of it. */

export function isHubUrl(url: string | undefined): url is string {
  return url !== undefined && /^https?:\/\//.test(url)
}

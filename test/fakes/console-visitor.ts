/** A person at the console without a browser: signs in with a key, reads pages, and submits forms with the token of the session. */
import assert from 'node:assert/strict'

export interface ConsoleVisitor {
  /** Of the session. */
  readonly cookie: string
  readonly get: (path: string) => Promise<Response>
  readonly post: (path: string, form: Record<string, string>, headers?: Record<string, string>) => Promise<Response>
}

export async function visitorWith(url: string, key: string): Promise<ConsoleVisitor> {
  const signed = await fetch(`${url}/console/sign-in`, {
    method: 'POST',
    redirect: 'manual',
    headers: { origin: url },
    body: new URLSearchParams({ key }),
  })
  assert.equal(signed.status, 303)
  const [set = ''] = signed.headers.getSetCookie()
  assert.match(set, /^__Host-preflight=\S+; Max-Age=28800; Path=\/; Secure; HttpOnly; SameSite=Lax$/)
  const cookie = set.split(';', 1)[0] ?? ''
  const get: ConsoleVisitor['get'] = (path) => fetch(url + path, { headers: { cookie }, redirect: 'manual' })
  return {
    cookie,
    get,
    async post(path, form, headers = {}) {
      const page = await (await get('/console')).text()
      const csrf = /name="csrf" value="([^"]+)"/.exec(page)?.[1] ?? ''
      return fetch(url + path, {
        method: 'POST',
        redirect: 'manual',
        headers: { cookie, origin: url, ...headers },
        body: new URLSearchParams({ csrf, ...form }),
      })
    },
  }
}

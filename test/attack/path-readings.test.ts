/** Every protocol by every way to write a path: judged as the plain path is, or refused. It is never forwarded. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { PROFILES, PROTOCOLS } from '../protocols/profiles.ts'
import { send, startScene } from '../protocols/protocol-scene.ts'

const ENDS = [
  '/',
  '//',
  ';',
  ';x=1',
  ';/x',
  ';x=1/y/z',
  '.',
  '%2e',
  '%20',
  '%09',
  '%c2%a0',
  '%00',
  '%0a',
  '%ff',
  '%5c',
  '\\',
  '.json',
  '.JSON',
  '.xml',
  '.json;x',
  '%3bx',
  '%3fx',
  '%23x',
  '%253bx',
  '%2f',
  '%252f',
  '/.',
  '/%2e',
  '/x/..',
  '/x/%2e%2e',
] as const

const hex = (text: string): string => text.replaceAll(/./g, (one) => `%${one.charCodeAt(0).toString(16)}`)

/** Of one name in the path. */
const NAMES: readonly ((name: string) => string)[] = [
  (name) => name.toUpperCase(),
  (name) => name.slice(0, 1).toUpperCase() + name.slice(1),
  (name) => hex(name.slice(0, 1)) + name.slice(1),
  (name) => `%25${hex(name.slice(0, 1)).slice(1)}${name.slice(1)}`,
  (name) => encodeURIComponent(String.fromCharCode(name.charCodeAt(0) + 0xfe_e0)) + name.slice(1),
  (name) => `${name};x=1`,
  (name) => `${name};`,
  (name) => `${name}%20`,
  (name) => `%20${name}`,
  (name) => `${name}.`,
  (name) => `${name}%00`,
  (name) => `/${name}`,
  (name) => `./${name}`,
  (name) => `x/../${name}`,
  (name) => `x/%2e%2e/${name}`,
  (name) => `%2e/${name}`,
]

function* spellings(path: string): Generator<string> {
  for (const end of ENDS) yield path + end
  const names = path.slice(1).split('/')
  for (const [index, name] of names.entries()) {
    for (const spell of NAMES) yield `/${names.with(index, spell(name)).join('/')}`
    if (index === 0) continue
    for (const slash of ['%2f', '%2F', '%252f', '%5c', '\\', '//'])
      yield `/${names.slice(0, index).join('/')}${slash}${names.slice(index).join('/')}`
  }
}

for (const protocol of PROTOCOLS) {
  test(`${protocol}: no form of a path that is judged is forwarded`, async (t) => {
    const scene = await startScene(t, protocol)
    const forwarded: string[] = []
    for (const request of PROFILES[protocol].judged)
      for (const path of spellings(request.path))
        if ((await send(scene, { ...request, path })).isForwarded) forwarded.push(`${request.method} ${path}`)
    assert.deepEqual(forwarded, [])
  })
}

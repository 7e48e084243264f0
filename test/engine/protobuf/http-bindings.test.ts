/** HTTP bindings of rpcs: every part that can come, go or change, and every way to write the same. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { comparedProtobuf } from './contracts.ts'

const REQUEST = 'string id = 1; string parent = 2; Note note = 3;'

function contract(options: string, request = REQUEST): string {
  return `syntax = "proto3";
package notes.v1;
service Notes { rpc Get(GetRequest) returns (Note) { ${options} } }
message GetRequest { ${request} }
message Note { string text = 1; }`
}

const rule = (members: string): string => `option (google.api.http) = { ${members} };`

const GET = 'get: "/v1/{parent}/notes/{id}"'
const POST = 'post: "/v1/notes" body: "*"'

type Case = readonly [what: string, before: string, after: string, found: readonly string[]]

const CHANGED = ['breaking proto-rpc-http-changed']
const ADDED = ['info proto-rpc-http-binding-added']

const CASES: readonly Case[] = [
  ['the binding goes', rule(GET), '', CHANGED],
  ['a binding comes', '', rule(GET), ADDED],
  ['another path', rule(GET), rule('get: "/v2/{parent}/notes/{id}"'), CHANGED],
  ['another verb', rule(GET), rule('post: "/v1/{parent}/notes/{id}"'), CHANGED],
  [
    'another custom verb',
    rule('custom { kind: "HEAD" path: "/v1" }'),
    rule('custom { kind: "TRACE" path: "/v1" }'),
    CHANGED,
  ],
  ['every method in place of one', rule('get: "/v1/notes"'), rule('custom { kind: "*" path: "/v1/notes" }'), ADDED],
  [
    'one method in place of every one',
    rule('custom { kind: "*" path: "/v1/notes" }'),
    rule('get: "/v1/notes"'),
    CHANGED,
  ],
  ['every method goes', rule('custom { kind: "*" path: "/v1/notes" }'), '', CHANGED],
  [
    'every method with a wider path',
    rule('custom { kind: "HEAD" path: "/v1/{id=*}" }'),
    rule('custom { kind: "*" path: "/v1/{id=**}" }'),
    ADDED,
  ],
  [
    'every method with another body',
    rule('post: "/v1/notes"'),
    rule('custom { kind: "*" path: "/v1/notes" } body: "*"'),
    CHANGED,
  ],
  ['every method on another path', rule('get: "/v1/notes"'), rule('custom { kind: "*" path: "/v2/notes" }'), CHANGED],
  ['a body', rule('post: "/v1/notes"'), rule(POST), CHANGED],
  ['another body', rule(POST), rule('post: "/v1/notes" body: "note"'), CHANGED],
  ['another response body', rule(GET), rule(`${GET} response_body: "text"`), CHANGED],
  ['variables that change places', rule(GET), rule('get: "/v1/{id}/notes/{parent}"'), CHANGED],
  [
    'another custom method after the colon',
    rule('post: "/v1/notes:archive"'),
    rule('post: "/v1/notes:close"'),
    CHANGED,
  ],
  ['a narrower pattern', rule('get: "/v1/{id}"'), rule('get: "/v1/{id=notes}"'), CHANGED],
  ['a wider pattern', rule('get: "/v1/{id=*}"'), rule('get: "/v1/{id=**}"'), ADDED],
  ['a pattern for any further segments', rule('get: "/v1/{id=notes/*}"'), rule('get: "/v1/{id=**}"'), ADDED],
  [
    'a pattern for any further segments that leaves some out of the variable',
    rule('get: "/v1/{id=notes/*}/text"'),
    rule('get: "/v1/{id=**}"'),
    CHANGED,
  ],
  ['a further binding', rule(GET), rule(`${GET} additional_bindings { ${POST} }`), ADDED],
  ['a further binding goes', rule(`${GET} additional_bindings { ${POST} }`), rule(GET), CHANGED],
  [
    'the body of a further binding',
    rule(`${GET} additional_bindings { ${POST} }`),
    rule(`${GET} additional_bindings { post: "/v1/notes" }`),
    CHANGED,
  ],
  [
    'one of two further bindings',
    rule(`${GET} additional_bindings { ${POST} } additional_bindings { get: "/v1" }`),
    rule(`${GET} additional_bindings { get: "/v1" }`),
    CHANGED,
  ],
  [
    'bindings in another order',
    rule(`${GET} additional_bindings { ${POST} }`),
    rule(`${POST} additional_bindings { ${GET} }`),
    [],
  ],
  ['one pattern for any segment', rule('get: "/v1/{id}"'), rule('get: "/v1/{id=*}"'), []],
  [
    'members set one by one',
    rule(POST),
    'option (google.api.http).post = "/v1/notes"; option (google.api.http).body = "*";',
    [],
  ],
  [
    'a member that is set changes',
    'option (google.api.http).get = "/v1";',
    'option (google.api.http).get = "/v2";',
    CHANGED,
  ],
]

suite('the HTTP bindings of an rpc', () => {
  for (const [what, before, after, expected] of CASES) {
    test(what, () => {
      const { groups } = comparedProtobuf(contract(before), contract(after))
      assert.deepEqual(
        groups.map(({ level, rule: id }) => `${level} ${id}`),
        expected,
      )
    })
  }

  test('keep a variable whose field was renamed, since a call shows values only', () => {
    const request = 'string note_id = 1; string parent = 2; Note note = 3;'
    const { groups } = comparedProtobuf(
      contract(rule(GET)),
      contract(rule('get: "/v1/{parent}/notes/{note_id}"'), request),
    )
    assert.deepEqual(
      groups.filter(({ rule: id }) => id.includes('http')),
      [],
    )
  })
})

const two = (get: string, other: string, more = ''): string =>
  `syntax = "proto3"; package notes.v1;
service Notes { rpc Get(GetRequest) returns (Note) { ${rule(get)} } ${other === '' ? '' : `rpc Other(GetRequest) returns (Note) { ${rule(other)} }`} }
${more} message GetRequest { ${REQUEST} } message Note { string text = 1; }`
const further = (host: string): string =>
  `service More { option (google.api.default_host) = "${host}"; rpc Find(GetRequest) returns (Note) { ${rule('get: "/v1/own"')} } }`

suite('bindings of other rpcs', () => {
  const [one, own] = ['get: "/v1/{id}"', 'get: "/v1/own"']
  for (const [what, before, after, isShadowed] of [
    ['a fixed path that comes', two(one, ''), two(one, own), true],
    ['a path that becomes wider', two(own, 'get: "/v1/{id=notes/*}"'), two(own, 'get: "/v1/{id=**}"'), true],
    ['a path of a new service', two(one, ''), two(one, '', further('a.example')), true],
    ['a path that was there', two(one, own), two(one, own), false],
    ['another method', two(one, ''), two(one, 'delete: "/v1/own"'), false],
    ['another verb after the colon', two(one, ''), two(one, 'get: "/v1/own:archive"'), false],
    ['a longer path', two(one, ''), two(one, 'get: "/v1/own/{id}"'), false],
    ['a path of another literal', two(own, ''), two(own, 'get: "/v1/other"'), false],
    ['every method', two(own, ''), two(own, 'custom { kind: "*" path: "/v1/own" }'), true],
    [
      'a method of a binding of every method',
      two('custom { kind: "*" path: "/v1/notes" }', ''),
      two('custom { kind: "*" path: "/v1/notes" }', 'get: "/v1/notes"'),
      true,
    ],
    ['every method on another path', two(own, ''), two(own, 'custom { kind: "*" path: "/v1/other" }'), false],
  ] as const) {
    test(what, () => {
      const found = comparedProtobuf(before, after).groups.map(({ level, rule: id }) => `${level} ${id}`)
      assert.equal(found.includes('dangerous proto-rpc-http-shadowed'), isShadowed, JSON.stringify(found))
    })
  }
})

/** Requests to a platform whose query or form a server reads otherwise than it was judged: Rack, Grape and others have more than one form. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { asked, scmScene } from '../fakes/scm-proxy.ts'
import { exchangeBytes, requestText } from '../fakes/raw-http.ts'
import { SCM_TOKEN } from '../fakes/scm-server.ts'

const PROJECT = '/api/v4/projects/4711'
const NOTES = `${PROJECT}/merge_requests/7/notes`
const FILES = `${PROJECT}/repository/files/api%2Fopenapi.yaml`
const FORM = 'application/x-www-form-urlencoded'
const MULTIPART = 'multipart/form-data; boundary=x'
const part = (head: string, text: string) => `--x\r\n${head}\r\n\r\n${text}\r\n`
const field = (name: string, text: string) => part(`Content-Disposition: form-data; name="${name}"`, text)
const END = '--x--\r\n'
const FEATURE = field('branch', 'feature')

/** Each passes, or is judged as another one, if the server reads it as the gateway does not. */
const ATTEMPTS: readonly (readonly [what: string, path: string, body: string, type: string | null])[] = [
  ['a note behind a semicolon of the query', `${NOTES}?x=1;body=%2Fmerge`, '{}', 'application/json'],
  ['a note behind an encoded name', `${NOTES}?x=1;%62ody=%2Fmerge`, '{}', 'application/json'],
  ['a note behind a semicolon of a form', NOTES, 'x=1;body=/merge', FORM],
  ['a branch behind a semicolon', `${FILES}?branch=feature;branch=main`, '{"content":"a"}', 'application/json'],
  ['a branch behind a semicolon of a form', FILES, 'branch=feature;branch=main&content=a', FORM],
  ['JSON that is a form, too', NOTES, '{"body":"x&body=/merge&"}', null],
  ['JSON that is a form with a semicolon', NOTES, '{"body":"x;body=/merge;"}', null],
  ['a form in UTF-7', NOTES, 'body=+AC8-merge', `${FORM}; charset=utf-7`],
  ['JSON in UTF-7', NOTES, '{"body":"+AC8-merge"}', 'application/json; charset=utf-7'],
  ['JSON in Shift_JIS', NOTES, '{"body":"\u00c3\\",\\"body\\":\\"/merge\\""}', 'application/json;charset=Shift_JIS'],
  ['two charsets', NOTES, '{"body":"x"}', 'application/json; charset=utf-8; charset=utf-7'],
  ['a part with two names', FILES, FEATURE + field('x"; name="branch', 'main') + END, MULTIPART],
  [
    'a part with two heads of its name',
    FILES,
    FEATURE +
      part('Content-Disposition: form-data; name="x"\r\nContent-Disposition: form-data; name="branch"', 'main') +
      END,
    MULTIPART,
  ],
  [
    'a part with an extended name',
    FILES,
    FEATURE + part('Content-Disposition: form-data; name="x"; name*=utf-8\'\'branch', 'main') + END,
    MULTIPART,
  ],
  [
    'a part in base64',
    NOTES,
    part('Content-Disposition: form-data; name="body"\r\nContent-Transfer-Encoding: base64', 'L21lcmdl') + END,
    MULTIPART,
  ],
  [
    'a part in other letters',
    NOTES,
    part('Content-Disposition: form-data; name="body"\r\nContent-Type: text/plain; charset=utf-7', '+AC8-merge') + END,
    MULTIPART,
  ],
  ['a part before the form', FILES, `${field('branch', 'main').slice(2)}${FEATURE}${END}`, MULTIPART],
  ['a part behind the form', FILES, FEATURE + END + field('branch', 'main') + END, MULTIPART],
  ['an escaped end of a name', FILES, FEATURE + field('branch%22', 'main') + END, MULTIPART],
  ['a charset for all texts', NOTES, field('_charset_', 'utf-7') + field('body', '+AC8-merge') + END, MULTIPART],
  ['a boundary that is stated twice', FILES, FEATURE + END, 'multipart/form-data; boundary="x"; boundary=y'],
]

async function sendRaw(url: string, path: string, body: string, type: string | null): Promise<string> {
  const typed = type === null ? '' : `\nContent-Type: ${type}`
  const head = `POST ${path} HTTP/1.1\nHost: a\nAuthorization: Bearer ${SCM_TOKEN}${typed}\nContent-Length: ${Buffer.byteLength(body)}`
  return exchangeBytes(url, requestText(head, body))
}

for (const [what, path, body, type] of ATTEMPTS)
  test(`${what} is refused`, async (t) => {
    const scene = await scmScene(t, 'gitlab')
    const answer = await sendRaw(scene.proxy.url, path, body, type)
    assert.match(answer, /^HTTP\/1\.1 403/)
    assert.match(answer, /preflight-action: STOP/i)
    assert.deepEqual([scene.server.effects, asked(scene)], [[], []])
  })

for (const value of ['on', 'ON', 't', 'T', 'yes', 'y', '1', 1, true, 'true', 'True'])
  for (const name of ['auto_merge', 'merge_when_pipeline_succeeds'])
    test(`a merge request with ${name}: ${JSON.stringify(value)} merges later`, async (t) => {
      const scene = await scmScene(t, 'gitlab')
      const proposal = { source_branch: 'feature', target_branch: 'main', title: 't', [name]: value }
      const answer = await scene.send('POST', `${PROJECT}/merge_requests`, proposal)
      assert.match(await answer.text(), /"operation":"merge"/)
      assert.deepEqual(scene.server.requests, [])
    })

for (const value of [1, '1', 'on', 'yes'])
  test(`a release with draft: ${JSON.stringify(value)} is not a draft for certain`, async (t) => {
    const scene = await scmScene(t, 'github')
    await scene.send('POST', '/repos/acme/pets/releases', { tag_name: 'v2', draft: value })
    assert.equal(asked(scene)[0]?.operation, 'publish')
  })

const NOTE = 'a; b=c & d'
/** As clients write forms: curl, fetch, OkHttp, .NET, Ruby, requests. */
const ORDINARY: readonly (readonly [what: string, body: string, type: string | null])[] = [
  ['a form with a semicolon in a text', 'body=Fix; see b=c', FORM],
  ['JSON without a type', JSON.stringify({ body: 'a & b; c = d' }), null],
  ['JSON with a charset', JSON.stringify({ body: NOTE }), 'application/json; charset=utf-8'],
  ['parts of curl', field('body', NOTE) + END, MULTIPART],
  ['a quoted boundary', field('body', NOTE) + END, 'multipart/form-data; boundary="x"'],
  [
    'parts with a length',
    part(`Content-Disposition: form-data; name="body"\r\nContent-Length: ${NOTE.length}`, NOTE) + END,
    MULTIPART,
  ],
  [
    'parts with a type before the name',
    part('Content-Type: text/plain; charset=utf-8\r\nContent-Disposition: form-data; name=body', NOTE) + END,
    MULTIPART,
  ],
  [
    'parts with a coding that is none',
    part('Content-Disposition: form-data; name="body"\r\nContent-Transfer-Encoding: binary', NOTE) + END,
    MULTIPART,
  ],
  [
    'a file beside',
    part('Content-Disposition: form-data; name="file"; filename="a.txt"\r\nContent-Type: text/plain', 'a') +
      field('body', NOTE) +
      END,
    MULTIPART,
  ],
]

for (const [what, body, type] of ORDINARY)
  test(`${what} goes on`, async (t) => {
    const scene = await scmScene(t, 'gitlab')
    const path = `${PROJECT}/issues/7/notes?confidential=false&x=a%3Bb=c`
    assert.doesNotMatch(await sendRaw(scene.proxy.url, path, body, type), /preflight-action/i)
    assert.equal(scene.server.requests.length, 1)
  })

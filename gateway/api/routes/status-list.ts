/**
 * GET /.well-known/status/{list}: the states of many receipts, signed, for verifiers that do not ask about single receipts
 * (docs/reference/receipts.md#status-list).
 */
import { Type } from '../../../engine/base.ts'
import { GatewayError } from '../../errors/errors.ts'
import { defineRoute } from '../route.ts'

const MEDIA_TYPE = 'application/statuslist+jwt'
const LIST_ID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

export const statusList = defineRoute({
  method: 'GET',
  paths: ['/.well-known/status/{list}'],
  operationId: 'getStatusList',
  tag: 'discovery',
  summary: 'A status list of receipts',
  access: 'public',
  params: { list: 'Last segment of `status.status_list.uri` of a receipt.' },
  headers: { 'If-None-Match': 'Entity tag of the copy that the client has.' },
  answers: {
    200: {
      description: 'A status list token (IETF Token Status List).',
      content: { [MEDIA_TYPE]: Type.String() },
    },
    304: { description: 'The copy of the client is still current.', content: {} },
  },
  errors: ['NOT_FOUND', 'SIGNER_UNAVAILABLE', 'STORE_UNAVAILABLE'],
  async handle({ params, headers }, { statusLists }) {
    const id = params['list'] ?? ''
    const found = LIST_ID.test(id) ? await statusLists.list(id) : null
    if (found === null) throw new GatewayError('NOT_FOUND', 'There is no such status list.')
    const { token, etag, maxAge } = found
    const caching = { ETag: etag, 'Cache-Control': `public, max-age=${maxAge}`, 'Access-Control-Allow-Origin': '*' }
    const isSame = tagsIn(headers['if-none-match']).some((tag) => tag === '*' || tag === etag)
    return isSame
      ? { kind: 'empty', status: 304, headers: caching }
      : { kind: 'text', status: 200, mediaType: MEDIA_TYPE, text: token, headers: caching }
  },
})

/** Weak and strong tags count alike here (RFC 9110 §13.1.2). */
function tagsIn(header: string | string[] | undefined): readonly string[] {
  return [header ?? []].flat().flatMap((value) => value.split(',').map((tag) => tag.trim().replace(/^W\//, '')))
}

/** Small contracts, before and after, for tests that need a change of a known kind. */

const openapi = (paths: object): string =>
  JSON.stringify({ openapi: '3.0.3', info: { title: 'Pets', version: '1.0.0' }, paths })

const answering = (schema: object) => ({
  responses: { '200': { description: 'ok', content: { 'application/json': { schema } } } },
})

const PET = { type: 'object', properties: { id: { type: 'string' }, name: { type: 'string' } }, required: ['id'] }

export const PETS = openapi({ '/pets': { get: answering(PET), delete: answering({ type: 'object' }) } })
/** Nothing changed but the order of members. */
export const PETS_REORDERED = openapi({ '/pets': { delete: answering({ type: 'object' }), get: answering(PET) } })
/** An operation is gone: breaking. */
export const PETS_WITHOUT_DELETE = openapi({ '/pets': { get: answering(PET) } })
/** An operation came: info. */
export const PETS_WITH_POST = openapi({
  '/pets': { get: answering(PET), delete: answering({ type: 'object' }), post: answering(PET) },
})

export const pets = (after: string, id = 'pets') => ({ id, type: 'openapi', before: PETS, after })

/** A tool manifest whose tools take anything. */
export const manifest = (names: readonly string[]): string =>
  JSON.stringify({ tools: names.map((name) => ({ name, description: name, inputSchema: { type: 'object' } })) })

/**
 * Every element of what an MCP server offers that is no schema, with each action, in both directions: what it is at the worst.
 * It is one table, so that an element which is missing can be seen.
 */
import { checkElements, type ElementRow } from '../elements.ts'

type Json = Readonly<Record<string, unknown>>

const TOOL = { name: 'search', description: 'Finds notes.', inputSchema: { type: 'object' } }
const PROMPT = { name: 'ask', description: 'Asks.', arguments: [{ name: 'topic' }] }
const RESOURCE = { uri: 'file:///a', name: 'a', mimeType: 'text/plain' }
const TEMPLATE = { uriTemplate: 'file:///{path}', name: 'files', mimeType: 'text/plain' }
const CAPABILITIES = { tools: {}, prompts: {}, resources: {} }

/** A session start of a server that offers one of each kind. */
function server(more: Json): Json {
  return {
    protocolVersion: '2025-11-25',
    serverInfo: { name: 'notes', version: '1.0.0' },
    capabilities: CAPABILITIES,
    tools: [TOOL],
    prompts: [PROMPT],
    resources: [RESOURCE],
    resourceTemplates: [TEMPLATE],
    ...more,
  }
}

const tool = (more: Json): Json => ({ tools: [{ ...TOOL, ...more }] })
const prompt = (more: Json): Json => ({ prompts: [{ ...PROMPT, ...more }] })
const argument = (more: Json): Json => prompt({ arguments: [{ name: 'topic', ...more }] })
const resource = (more: Json): Json => ({ resources: [{ ...RESOURCE, ...more }] })
const template = (more: Json): Json => ({ resourceTemplates: [{ ...TEMPLATE, ...more }] })
const capable = (more: Json): Json => ({ capabilities: { ...CAPABILITIES, ...more } })
const annotated = (annotations: Json): Json => tool({ annotations })
const ICON = { src: 'https://notes.example/a.png', mimeType: 'image/png', sizes: ['48x48'] }
const protectedBy = (metadata: Json): Json => ({ authorization: metadata })

const ELEMENTS: readonly ElementRow<Json>[] = [
  ['a tool', {}, { tools: [TOOL, { ...TOOL, name: 'other' }] }, 'info', 'breaking'],
  ['the name of a tool', {}, tool({ name: 'look-up' }), 'breaking', 'breaking'],
  ['the title of a tool', tool({ title: 'a' }), tool({ title: 'b' }), 'dangerous', 'dangerous'],
  ['a first title of a tool', {}, tool({ title: 'a' }), 'info', 'dangerous'],
  ['the description of a tool', {}, tool({ description: 'Finds notes and mails.' }), 'info', 'info'],
  ['a description', tool({ description: undefined }), {}, 'dangerous', 'dangerous'],
  [
    'the result of a tool',
    {},
    tool({ outputSchema: { type: 'object', properties: { a: { type: 'string' } } } }),
    'info',
    'breaking',
  ],
  ['readOnlyHint', {}, annotated({ readOnlyHint: true }), 'info', 'breaking'],
  ['destructiveHint', {}, annotated({ destructiveHint: false }), 'info', 'breaking'],
  ['idempotentHint', {}, annotated({ idempotentHint: true }), 'info', 'dangerous'],
  ['openWorldHint', {}, annotated({ openWorldHint: false }), 'info', 'dangerous'],
  ['an annotation that is not known', {}, annotated({ costHint: 'high' }), 'info', 'info'],
  ['a title among the annotations', annotated({ title: 'a' }), annotated({ title: 'b' }), 'dangerous', 'dangerous'],
  ['tasks that are possible', {}, tool({ execution: { taskSupport: 'optional' } }), 'info', 'breaking'],
  ['tasks that are needed', {}, tool({ execution: { taskSupport: 'required' } }), 'breaking', 'breaking'],
  [
    'tasks of another kind',
    tool({ execution: { taskSupport: 'optional' } }),
    tool({ execution: { taskSupport: 'required' } }),
    'breaking',
    'info',
  ],
  ['another member of the execution', {}, tool({ execution: { maxDuration: 60 } }), 'dangerous', 'dangerous'],
  ['the icons of a tool', {}, tool({ icons: [ICON] }), 'dangerous', 'info'],
  ['the size of an icon', tool({ icons: [ICON] }), tool({ icons: [{ ...ICON, sizes: ['96x96'] }] }), 'info', 'info'],
  [
    'the origin of an icon',
    tool({ icons: [ICON] }),
    tool({ icons: [{ ...ICON, src: 'https://other.example/a.png' }] }),
    'dangerous',
    'dangerous',
  ],
  ['metadata of a tool', tool({ _meta: { a: 1 } }), tool({ _meta: { a: 2 } }), 'info', 'info'],
  [
    'security schemes of a tool',
    {},
    tool({ securitySchemes: [{ type: 'oauth2', scopes: ['read'] }] }),
    'breaking',
    'dangerous',
  ],
  [
    'a scope of a tool',
    tool({ securitySchemes: [{ type: 'oauth2', scopes: ['read'] }] }),
    tool({ securitySchemes: [{ type: 'oauth2', scopes: ['read', 'write'] }] }),
    'breaking',
    'dangerous',
  ],
  [
    'the end of anonymous calls',
    tool({ securitySchemes: [{ type: 'noauth' }] }),
    tool({ securitySchemes: [{ type: 'oauth2', scopes: [] }] }),
    'breaking',
    'dangerous',
  ],
  [
    'security schemes in the metadata of a tool',
    {},
    tool({ _meta: { securitySchemes: [{ type: 'oauth2', scopes: ['read'] }] } }),
    'breaking',
    'dangerous',
  ],
  ['a member that is not known', {}, tool({ cost: 'high' }), 'info', 'info'],

  ['a prompt', {}, { prompts: [PROMPT, { name: 'other' }] }, 'info', 'breaking'],
  ['the name of a prompt', {}, prompt({ name: 'question' }), 'breaking', 'breaking'],
  ['the description of a prompt', {}, prompt({ description: 'Asks for more.' }), 'dangerous', 'dangerous'],
  ['the title of a prompt', {}, prompt({ title: 'Ask' }), 'dangerous', 'dangerous'],
  ['an optional argument', {}, prompt({ arguments: [{ name: 'topic' }, { name: 'tone' }] }), 'info', 'dangerous'],
  [
    'a required argument',
    {},
    prompt({ arguments: [{ name: 'topic' }, { name: 'tone', required: true }] }),
    'breaking',
    'dangerous',
  ],
  ['requiredness of an argument', {}, argument({ required: true }), 'breaking', 'info'],
  ['the description of an argument', {}, argument({ description: 'What about.' }), 'info', 'dangerous'],
  ['the title of an argument', {}, argument({ title: 'Topic' }), 'info', 'dangerous'],
  ['a member of an argument that is not known', {}, argument({ maxLength: 3 }), 'info', 'info'],
  [
    'the order of arguments',
    prompt({ arguments: [{ name: 'topic' }, { name: 'tone' }] }),
    prompt({ arguments: [{ name: 'tone' }, { name: 'topic' }] }),
    'none',
    'none',
  ],
  ['icons of a prompt', {}, prompt({ icons: [ICON] }), 'dangerous', 'info'],
  ['metadata of a prompt', {}, prompt({ _meta: { a: 1 } }), 'info', 'info'],
  ['a member of a prompt that is not known', {}, prompt({ cost: 'high' }), 'info', 'info'],

  ['a resource', {}, { resources: [RESOURCE, { uri: 'file:///b', name: 'b' }] }, 'info', 'breaking'],
  ['the address of a resource', {}, resource({ uri: 'file:///b' }), 'breaking', 'breaking'],
  ['the name of a resource', {}, resource({ name: 'b' }), 'info', 'info'],
  ['the title of a resource', {}, resource({ title: 'A' }), 'info', 'dangerous'],
  ['the description of a resource', {}, resource({ description: 'About a.' }), 'info', 'dangerous'],
  ['the media type of a resource', {}, resource({ mimeType: 'application/json' }), 'dangerous', 'dangerous'],
  ['a media type', resource({ mimeType: undefined }), {}, 'none', 'dangerous'],
  ['the audience of a resource', {}, resource({ annotations: { audience: ['user'] } }), 'dangerous', 'dangerous'],
  ['the priority of a resource', {}, resource({ annotations: { priority: 0.5 } }), 'info', 'info'],
  ['the date of a resource', {}, resource({ annotations: { lastModified: '2026-01-01T00:00:00Z' } }), 'none', 'none'],
  ['the size of a resource', {}, resource({ size: 10 }), 'none', 'none'],
  ['metadata of a resource', {}, resource({ _meta: { a: 1 } }), 'info', 'info'],
  ['icons of a resource', {}, resource({ icons: [ICON] }), 'dangerous', 'info'],

  [
    'a template',
    {},
    { resourceTemplates: [TEMPLATE, { uriTemplate: 'db:///{id}', name: 'rows' }] },
    'info',
    'breaking',
  ],
  ['the address of a template', {}, template({ uriTemplate: 'file:///files/{path}' }), 'breaking', 'breaking'],
  ['the variable of a template', {}, template({ uriTemplate: 'file:///{name}' }), 'dangerous', 'dangerous'],
  ['the operator of a template', {}, template({ uriTemplate: 'file:///{+path}' }), 'breaking', 'breaking'],
  ['the name of a template', {}, template({ name: 'documents' }), 'info', 'info'],
  ['the media type of a template', {}, template({ mimeType: 'application/json' }), 'dangerous', 'dangerous'],
  ['the audience of a template', {}, template({ annotations: { audience: ['user'] } }), 'dangerous', 'dangerous'],

  ['the version of the protocol', {}, { protocolVersion: '2025-06-18' }, 'dangerous', 'info'],
  [
    'a supported version',
    { supportedVersions: ['2026-07-28'] },
    { supportedVersions: ['2026-07-28', '2026-09-01'] },
    'info',
    'breaking',
  ],
  ['the name of the server', {}, { serverInfo: { name: 'other', version: '1.0.0' } }, 'dangerous', 'dangerous'],
  ['the version of the server', {}, { serverInfo: { name: 'notes', version: '2.0.0' } }, 'info', 'info'],
  ['the title of the server', {}, { serverInfo: { name: 'notes', version: '1.0.0', title: 'Notes' } }, 'info', 'info'],
  [
    'the site of the server',
    {},
    { serverInfo: { name: 'notes', version: '1.0.0', websiteUrl: 'https://x.example' } },
    'info',
    'info',
  ],
  ['instructions', {}, { instructions: 'Use search first.' }, 'dangerous', 'dangerous'],
  [
    'other instructions',
    { instructions: 'Use search first.' },
    { instructions: 'Use search last.' },
    'dangerous',
    'dangerous',
  ],

  ['the capability of logging', {}, capable({ logging: {} }), 'info', 'breaking'],
  ['the capability of completion', {}, capable({ completions: {} }), 'info', 'breaking'],
  [
    'the capability of tasks',
    {},
    capable({ tasks: { list: {}, cancel: {}, requests: { tools: { call: {} } } } }),
    'info',
    'breaking',
  ],
  [
    'a part of the capability of tasks',
    capable({ tasks: { list: {}, cancel: {} } }),
    capable({ tasks: { list: {} } }),
    'dangerous',
    'info',
  ],
  [
    'a request of the capability of tasks',
    capable({ tasks: { requests: { tools: { call: {} } } } }),
    capable({ tasks: { requests: { tools: {} } } }),
    'dangerous',
    'info',
  ],
  ['notices of changed tools', {}, capable({ tools: { listChanged: true } }), 'info', 'dangerous'],
  ['notices of changed prompts', {}, capable({ prompts: { listChanged: true } }), 'info', 'dangerous'],
  ['notices of changed resources', {}, capable({ resources: { listChanged: true } }), 'info', 'dangerous'],
  ['subscriptions to resources', {}, capable({ resources: { subscribe: true } }), 'info', 'dangerous'],
  ['an experimental capability', {}, capable({ experimental: { search: {} } }), 'info', 'breaking'],
  [
    'a setting of an experimental capability',
    capable({ experimental: { search: { mode: 'a' } } }),
    capable({ experimental: { search: { mode: 'b' } } }),
    'dangerous',
    'dangerous',
  ],
  ['an extension', {}, capable({ extensions: { 'notes.example/export': {} } }), 'info', 'breaking'],
  [
    'a setting of an extension',
    capable({ extensions: { 'notes.example/export': { form: 'a' } } }),
    capable({ extensions: { 'notes.example/export': { form: 'b' } } }),
    'dangerous',
    'dangerous',
  ],

  [
    'authorization',
    {},
    protectedBy({
      resource: 'https://notes.example',
      authorization_servers: ['https://id.example'],
      scopes_supported: ['read'],
    }),
    'breaking',
    'dangerous',
  ],
  [
    'a supported scope',
    protectedBy({ scopes_supported: ['read'] }),
    protectedBy({ scopes_supported: ['read', 'write'] }),
    'dangerous',
    'dangerous',
  ],
  [
    'the server of tokens',
    protectedBy({ authorization_servers: ['https://a.example'] }),
    protectedBy({ authorization_servers: ['https://b.example'] }),
    'dangerous',
    'dangerous',
  ],
  ['a required header', {}, { headers: [{ name: 'X-Key', isRequired: true }] }, 'info', 'info'],
  ['a member of the session that is not known', {}, { cost: 'high' }, 'info', 'info'],
]

checkElements('an element of an MCP server', 'mcp_manifest', ELEMENTS, server)

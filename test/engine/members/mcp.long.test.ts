/** The members of what an MCP server offers (2025-11-25): what the change of each one is at the worst. */
import { checkMembers } from './run.ts'

const GRAMMAR = `
manifest: protocolVersion supportedVersions serverInfo=identity instructions capabilities=capabilities _meta tools=tool[] prompts=prompt[] resources=resource[] resourceTemplates=template[]
identity: name title version websiteUrl description icons=icon[]
icon: src mimeType sizes theme
capabilities: logging completions tools=list prompts=list resources=list tasks=tasks experimental extensions
list: listChanged subscribe
tasks: list cancel requests
tool: name title description icons=icon[] _meta annotations=hints execution=execution securitySchemes inputSchema outputSchema
hints: title readOnlyHint destructiveHint idempotentHint openWorldHint
execution: taskSupport
prompt: name title description icons=icon[] _meta arguments=argument[]
argument: name title description required
resource: uri name title description icons=icon[] _meta mimeType size annotations=annotations
template: uriTemplate name title description icons=icon[] _meta mimeType annotations=annotations
annotations: audience priority lastModified
`

const T = { type: 'string' }
const ICON = { src: 'https://x.example/a.png', mimeType: 'image/png', sizes: ['48x48'], theme: 'light' }
const DOCUMENT = {
  protocolVersion: '2025-11-25',
  supportedVersions: ['2025-11-25'],
  serverInfo: { name: 'n', title: 't', version: '1', websiteUrl: 'https://w', description: 'd', icons: [ICON] },
  instructions: 'i',
  _meta: { a: 1 },
  capabilities: {
    logging: {},
    completions: {},
    tools: { listChanged: true },
    prompts: { listChanged: true },
    resources: { listChanged: true, subscribe: true },
    tasks: { list: {}, cancel: {}, requests: { tools: { call: {} } } },
    experimental: { search: { mode: 'a' } },
    extensions: { 'a.b/c': { x: 1 } },
  },
  tools: [
    { name: 'drop', inputSchema: { type: 'object' }, annotations: { destructiveHint: false, idempotentHint: false } },
    {
      name: 'search',
      title: 't',
      description: 'd',
      icons: [ICON],
      _meta: { a: 1 },
      annotations: {
        title: 's',
        readOnlyHint: true,
        destructiveHint: false,
        idempotentHint: true,
        openWorldHint: false,
      },
      execution: { taskSupport: 'optional' },
      securitySchemes: [{ type: 'oauth2', scopes: ['r'] }],
      inputSchema: {
        type: 'object',
        required: ['q'],
        properties: { q: { type: 'string', description: 'd', title: 't' } },
      },
      outputSchema: { type: 'object', required: ['hits'], properties: { hits: { type: 'array', items: T } } },
    },
  ],
  prompts: [
    {
      name: 'ask',
      title: 't',
      description: 'd',
      icons: [ICON],
      _meta: { a: 1 },
      arguments: [{ name: 'topic', title: 't', description: 'd', required: true }],
    },
  ],
  resources: [
    {
      uri: 'file:///a',
      name: 'a',
      title: 't',
      description: 'd',
      icons: [ICON],
      _meta: { a: 1 },
      mimeType: 'text/plain',
      size: 3,
      annotations: { audience: ['user'], priority: 0.5, lastModified: '2026-01-01T00:00:00Z' },
    },
  ],
  resourceTemplates: [
    {
      uriTemplate: 'file:///{path}',
      name: 'f',
      title: 't',
      description: 'd',
      icons: [ICON],
      _meta: { a: 1 },
      mimeType: 'text/plain',
      annotations: { audience: ['user'], priority: 0.5, lastModified: '2026-01-01T00:00:00Z' },
    },
  ],
}

const SHOWN = 'Hosts show it to people. Models do not get it.'
const EXTENSION = 'Its names belong to extensions, which the protocol does not define.'

checkMembers('MCP', {
  type: 'mcp_manifest',
  grammar: GRAMMAR,
  document: DOCUMENT,
  silent: {
    'manifest._meta': 'It is about the answer, not about what is offered.',
    'resource.size': 'A host reads the resource whatever its size. It changes with each edit.',
  },
  harmless: {
    'icon.mimeType': SHOWN,
    'icon.sizes': SHOWN,
    'identity.description': SHOWN,
    'identity.title': SHOWN,
    'identity.websiteUrl': SHOWN,
    'prompt._meta': EXTENSION,
    'resource._meta': EXTENSION,
    'template._meta': EXTENSION,
    'tool._meta': EXTENSION,
  },
})

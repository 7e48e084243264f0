/** The bodies of the benchmark, 1 KiB in each direction, and the contracts of the judged routes. */
export const PAYLOAD = 'x'.repeat(1000)

export const TOOL = {
  name: 'echo',
  description: 'Answers with the text it was given.',
  inputSchema: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
}

const TEXT_BODY = {
  'application/json': {
    schema: { type: 'object', required: ['text'], properties: { text: { type: 'string' } } },
  },
}

export const CONTRACT = {
  openapi: '3.0.3',
  info: { title: 'bench', version: '1.0.0' },
  paths: {
    '/echo': {
      post: {
        operationId: 'echo',
        requestBody: { required: true, content: TEXT_BODY },
        responses: { '200': { description: 'The text.', content: TEXT_BODY } },
      },
    },
  },
}

/** One request of each kind of traffic. */
export const TRAFFIC = {
  http: { path: '/echo', body: JSON.stringify({ text: PAYLOAD }) },
  mcp: {
    path: '/mcp',
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name: TOOL.name, arguments: { text: PAYLOAD } },
    }),
  },
} as const

export type Traffic = keyof typeof TRAFFIC

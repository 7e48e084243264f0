/** Writes an answer: UTF-8 text with headers that forbid sniffing, caching and framing. */
import type { ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { RouteAnswer } from '../route.ts'

type Headers = Readonly<Record<string, string>>

const FIXED_HEADERS: Headers = {
  'X-Content-Type-Options': 'nosniff',
  'Cache-Control': 'no-store',
  'Referrer-Policy': 'no-referrer',
}

/** Resolves when the answer has been handed to the connection; rejects when the connection breaks. */
export async function sendAnswer(response: ServerResponse, answer: RouteAnswer, headers: Headers): Promise<void> {
  switch (answer.kind) {
    case 'json':
      return sendText(response, answer.status, JSON.stringify(answer.body), {
        ...headers,
        ...answer.headers,
        'Content-Type': 'application/json; charset=utf-8',
      })
    case 'text':
      return sendText(response, answer.status, answer.text, {
        ...headers,
        ...answer.headers,
        'Content-Type': contentType(answer.mediaType),
      })
    case 'empty':
      response.writeHead(answer.status, { ...FIXED_HEADERS, ...headers, ...answer.headers })
      response.end()
      return
    case 'lines':
      response.writeHead(200, { ...FIXED_HEADERS, ...headers, 'Content-Type': answer.mediaType })
      return pipeline(Readable.from(answer.lines), response)
    case 'web':
      return sendWebResponse(response, answer.response, headers)
  }
}

/** Only text has a charset: other media types define their own form. */
function contentType(mediaType: string): string {
  return mediaType.startsWith('text/') ? `${mediaType}; charset=utf-8` : mediaType
}

function sendText(response: ServerResponse, status: number, text: string, headers: Headers): void {
  const bytes = Buffer.from(text)
  response.writeHead(status, { ...FIXED_HEADERS, ...headers, 'Content-Length': bytes.length })
  response.end(bytes)
}

async function sendWebResponse(response: ServerResponse, web: Response, headers: Headers): Promise<void> {
  response.writeHead(web.status, { ...FIXED_HEADERS, ...headers, ...Object.fromEntries(web.headers) })
  if (web.body === null) response.end()
  else await pipeline(Readable.fromWeb(web.body), response)
}

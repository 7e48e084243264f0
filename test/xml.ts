/** Well-formed XML as tests read it: elements with their attributes in document order; anything that is not well-formed fails the test. */
import assert from 'node:assert/strict'

export interface XmlElement {
  readonly name: string
  readonly attributes: Readonly<Record<string, string>>
}

const TOKEN = /<(\/?)([\w-]+)((?:\s+[\w:-]+="[^"<]*")*)\s*(\/?)>|([^<]+)/gy
const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }

export function elementsOf(xml: string): readonly XmlElement[] {
  const declaration = '<?xml version="1.0" encoding="UTF-8"?>\n'
  assert.ok(xml.startsWith(declaration), 'the declaration comes first')
  const text = xml.slice(declaration.length)
  // XML 1.0 §2.2: what a document may hold at all.
  assert.doesNotMatch(text, /[^\t\n\r\u{20}-\u{D7FF}\u{E000}-\u{FFFD}\u{10000}-\u{10FFFF}]/u)
  const elements: XmlElement[] = []
  const open: string[] = []
  let end = 0
  for (const [token, close, name, attributes = '', isEmpty, content] of text.matchAll(TOKEN)) {
    end += token.length
    if (content !== undefined) decoded(content)
    else if (close === '/') assert.equal(open.pop(), name, 'elements are closed in order')
    else if (name !== undefined) {
      elements.push({ name, attributes: attributesOf(attributes) })
      if (isEmpty === '') open.push(name)
    }
  }
  assert.equal(end, text.length, `not well-formed after ${JSON.stringify(text.slice(end, end + 80))}`)
  assert.deepEqual(open, [], 'every element is closed')
  return elements
}

function attributesOf(text: string): Readonly<Record<string, string>> {
  const pairs = [...text.matchAll(/([\w:-]+)="([^"]*)"/g)].map(([, name = '', value = '']) => [name, decoded(value)])
  assert.equal(new Set(pairs.map(([name]) => name)).size, pairs.length, 'an attribute stands once')
  return Object.fromEntries(pairs)
}

function decoded(text: string): string {
  return text.replaceAll(/&([^;]*;)?/g, (entity, name: string | undefined) => {
    const character = ENTITIES[name?.slice(0, -1) ?? '']
    assert.ok(character !== undefined, `${entity} is no entity of XML`)
    return character
  })
}

/** Changes of single values in a JSON text. Everything else stays as it was written, numbers of any size among it. */
import { findNodeAtLocation, parseTree, type JSONPath, type Node } from 'jsonc-parser'

interface JsonEdit {
  readonly at: JSONPath
  /** The value that replaces the present one. A place that is not there stays so. */
  readonly value: unknown
}

/** The text of a message that `JSON.parse` reads. */
export class JsonText {
  readonly #text: string
  readonly #root: Node | undefined

  constructor(text: string) {
    this.#text = text
    this.#root = parseTree(text)
  }

  /** The texts of the elements at a place; none when there is no list. */
  elements(at: JSONPath): readonly string[] {
    const list = this.#find(at)
    return list?.type === 'array' ? (list.children ?? []).map((node) => this.#textOf(node)) : []
  }

  /** Places of the texts that stand under a member of this name, in any depth below a place. */
  textsUnder(member: string, at: JSONPath): readonly { readonly at: JSONPath; readonly value: string }[] {
    const root = this.#find(at)
    return root === undefined ? [] : textsOfMember(root, member, at)
  }

  with(edits: readonly JsonEdit[]): string {
    const spans = edits.flatMap(({ at, value }) => {
      const node = this.#find(at)
      return node === undefined ? [] : [{ node, text: JSON.stringify(value) }]
    })
    let text = this.#text
    for (const { node, text: replacement } of spans.toSorted((a, b) => b.node.offset - a.node.offset))
      text = `${text.slice(0, node.offset)}${replacement}${text.slice(node.offset + node.length)}`
    return text
  }

  #find(at: JSONPath): Node | undefined {
    return this.#root === undefined ? undefined : findNodeAtLocation(this.#root, [...at])
  }

  #textOf({ offset, length }: Node): string {
    return this.#text.slice(offset, offset + length)
  }
}

type PlacedText = ReturnType<JsonText['textsUnder']>[number]

function textsOfMember(node: Node, member: string, at: JSONPath): readonly PlacedText[] {
  const children = node.children ?? []
  if (node.type === 'array') return children.flatMap((child, index) => textsOfMember(child, member, [...at, index]))
  return children.flatMap(({ children: [key, child] = [] }) => {
    if (key === undefined || child === undefined) return []
    const place = [...at, String(key.value)]
    const isMeant = key.value === member && child.type === 'string'
    return isMeant ? [{ at: place, value: String(child.value) }] : textsOfMember(child, member, place)
  })
}

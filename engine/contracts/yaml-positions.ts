/** Positions of the members and items of a YAML document, from the parser's events without a second parse. */
import { EVENT_ID, getScalarValue } from 'js-yaml'
import { itemFinder, placedChildren, type PlacedChildren, type PlacedNode } from './positions.ts'
import type { ParsedYaml, YamlEvents } from './yaml-layout.ts'

/** The events of one document, the ends of containers and the targets of aliases. */
interface EventIndex {
  readonly parsed: ParsedYaml
  /** Index of a container's opening event → index of its closing one. */
  readonly ends: ReadonlyMap<number, number>
  /** Index of an alias → index of the anchored node. */
  readonly targets: ReadonlyMap<number, number>
}

const NO_CHILDREN: PlacedChildren = new Map<string, PlacedNode>()

/** The root of a document that js-yaml has accepted. Null if it has no content. */
export function placeYaml(parsed: ParsedYaml): PlacedNode | null {
  const content = parsed.events[1]
  return content === undefined || content.type === EVENT_ID.POP ? null : placedNode(indexEvents(parsed), 1, 1)
}

/** The documents of a stream as the items of a list. */
export function placeYamlStream(parsed: ParsedYaml): PlacedNode {
  const index = indexEvents(parsed)
  const documents = new Map<string, PlacedNode>()
  parsed.events.forEach((event, at) => {
    if (event.type === EVENT_ID.DOCUMENT) documents.set(String(documents.size), placedNode(index, at + 1, at + 1))
  })
  return { offset: 0, children: () => documents }
}

function indexEvents(parsed: ParsedYaml): EventIndex {
  const { events, source } = parsed
  const ends = new Map<number, number>()
  const targets = new Map<number, number>()
  const anchors = new Map<string, number>()
  const open: number[] = []
  events.forEach((event, at) => {
    if (event.type === EVENT_ID.POP) ends.set(open.pop() ?? 0, at)
    else if (event.type === EVENT_ID.ALIAS) {
      const target = anchors.get(source.slice(event.anchorStart, event.anchorEnd))
      if (target !== undefined) targets.set(at, target)
    } else {
      if (event.type !== EVENT_ID.DOCUMENT && event.anchorStart >= 0) {
        anchors.set(source.slice(event.anchorStart, event.anchorEnd), at)
      }
      if (event.type !== EVENT_ID.SCALAR) open.push(at)
    }
  })
  return { parsed, ends, targets }
}

function placedNode(index: EventIndex, placeAt: number, valueAt: number): PlacedNode {
  const offset = index.parsed.toOriginal(nodeOffset(index.parsed.events[placeAt]))
  return { offset, children: () => yamlChildren(index, valueAt) }
}

function yamlChildren(index: EventIndex, at: number): PlacedChildren {
  const open = index.targets.get(at) ?? at
  const { events, source } = index.parsed
  const event = events[open]
  const close = index.ends.get(open)
  if (event === undefined || close === undefined) return NO_CHILDREN
  const isSequence = event.type === EVENT_ID.SEQUENCE
  const members = new Map<string, number>()
  const items: number[] = []
  for (
    let item = open + 1;
    item < close;
    item = isSequence ? indexAfter(index, item) : indexAfter(index, indexAfter(index, item))
  ) {
    const key = events[item]
    if (isSequence) items.push(item)
    else if (key?.type === EVENT_ID.SCALAR) members.set(getScalarValue(source, key), item)
  }
  const find = isSequence ? itemFinder(items) : (name: string) => members.get(name)
  return placedChildren(find, (item) => placedNode(index, item, isSequence ? item : indexAfter(index, item)))
}

function indexAfter(index: EventIndex, at: number): number {
  return (index.ends.get(at) ?? at) + 1
}

function nodeOffset(event: YamlEvents[number] | undefined): number {
  if (event === undefined) return 0
  if ('start' in event) return event.start
  if ('valueStart' in event) return event.valueStart
  return 'anchorStart' in event ? event.anchorStart : 0
}

/** Where a schema knows a member of a given name: a mistake about a misplaced member says where it belongs. */
import { pointerSegments } from '../errors/mistake.ts'
import type { JsonSchema } from './input-schema.ts'

/**
 * Other paths in the notation of the docs, e.g. `routes[].match.path`. If the name is known below the place where it was written,
 * only the nearest of these paths.
 * @param pointer of the map in which it was written
 */
export function placesOfMember(schema: JsonSchema, name: string, pointer: string): readonly string[] {
  const here = pointerSegments(pointer).reduce((path, segment) => memberPath(path, segment), '')
  const places = [...new Set(memberPaths(schema, ''))].filter(
    (path) => path.split('.').at(-1) === name && path !== memberPath(here, name),
  )
  const below = here === '' ? [] : places.filter((path) => path.startsWith(`${here}.`))
  const nearest = Math.min(...below.map(depthOf))
  return below.length > 0 ? below.filter((path) => depthOf(path) === nearest) : places
}

function memberPath(path: string, segment: string): string {
  if (/^\d+$/.test(segment)) return `${path}[]`
  return path === '' ? segment : `${path}.${segment}`
}

function depthOf(path: string): number {
  return path.split('.').length
}

function memberPaths({ properties, items, anyOf }: JsonSchema, path: string): readonly string[] {
  return [
    ...Object.entries(properties ?? {}).flatMap(([name, member]) => {
      const place = memberPath(path, name)
      return [place, ...memberPaths(member, place)]
    }),
    ...(items === undefined ? [] : memberPaths(items, `${path}[]`)),
    ...(anyOf ?? []).flatMap((variant) => memberPaths(variant, path)),
  ]
}

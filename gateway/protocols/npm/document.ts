/**
 * The document in a write to a package: a publication with its tarball, or a packument that changes existing versions.
 */
import { parseSemanticVersion } from '../../../engine/base.ts'
import { GatewayError } from '../../errors/errors.ts'
import { countingNames, otherSpelling, type CountingNames } from '../../json/folded-names.ts'
import { isJsonObject, type JsonObject } from '../../json/strict-json.ts'
import { textIn } from '../../json/unchecked-json.ts'
import { isIntact } from './tarball.ts'

export interface Publication {
  readonly kind: 'publication'
  readonly name: string
  readonly version: string
  readonly tarball: Buffer
  /** The tags that will name the version. */
  readonly tags: readonly string[]
  readonly beside: BesideVersion
}

/** What a publication states besides its version, with effects of its own. */
interface BesideVersion {
  /** Of the version. */
  readonly isDeprecated: boolean
  /** Absent: the publication names none. */
  readonly maintainers?: unknown
  /** Null: it stays as it is. */
  readonly access: 'public' | 'restricted' | null
}

/** Without a tarball: what is said of versions that are there already. */
export interface Revision {
  readonly kind: 'revision'
  readonly name: string
  readonly packument: JsonObject
}

/** @throws GatewayError PREFLIGHT_UNDECIDED when the document has no single reading */
export function readPackageDocument(name: string, document: unknown): Publication | Revision {
  if (!isJsonObject(document)) throw unread('the body is not a JSON object')
  requireLetters(document, DOCUMENT)
  const names = [document['name'], document['_id']].filter((one) => one !== undefined && one !== null)
  const other = names.length === 0 ? null : names.find((one) => one !== name)
  if (other !== undefined) throw unread(`the path names ${name} and the body ${JSON.stringify(other)}`)
  const attachments = objectOrEmpty(document['_attachments'], '_attachments')
  return Object.keys(attachments).length === 0
    ? { kind: 'revision', name, packument: document }
    : publication(name, document, attachments)
}

/** What `npm owner` sends: registries take it for the new owners, and keep the versions that it does not repeat. */
export function statesOwnersOnly(document: JsonObject): boolean {
  return document['maintainers'] !== undefined && Object.keys(document).every((name) => OF_OWNERS.has(name))
}

const OF_OWNERS: ReadonlySet<string> = new Set(['_id', '_rev', 'name', 'maintainers'])

function publication(name: string, document: JsonObject, attachments: JsonObject): Publication {
  requireNoBookkeeping(document)
  const [version, ...further] = Object.keys(objectOrEmpty(document['versions'], 'versions'))
  if (version === undefined || further.length > 0) throw unread('a publication states exactly one version')
  // A registry may take it for a version, and its predecessor is not known.
  if (parseSemanticVersion(version) === null) throw unread(`${JSON.stringify(version)} is not a semantic version`)
  const stated = objectOrEmpty(objectOrEmpty(document['versions'], 'versions')[version], `versions.${version}`)
  requireLetters(stated, VERSION)
  if (stated['version'] !== version || stated['name'] !== name)
    throw unread(`versions.${version} states another name or version than it stands under`)
  const tags = Object.entries(objectOrEmpty(document['dist-tags'], 'dist-tags'))
  const astray = tags.find(([, tagged]) => tagged !== version)
  if (astray !== undefined) throw unread(`the tag "${astray[0]}" names another version than the one that is published`)
  const [file, tarball] = tarballOf(attachments)
  const dist = objectOrEmpty(stated['dist'], `versions.${version}.dist`)
  requireLetters(dist, DIST)
  requireChecksum(dist, tarball)
  requireOwnFile(dist, file)
  // Registries give a publication without a tag this one.
  return {
    kind: 'publication',
    name,
    version,
    tarball,
    tags: tags.length === 0 ? ['latest'] : tags.map(([tag]) => tag),
    beside: {
      isDeprecated: !NOT_DEPRECATED.has(stated['deprecated']),
      ...(document['maintainers'] !== undefined && { maintainers: document['maintainers'] }),
      access: accessOf(document),
    },
  }
}

const NOT_DEPRECATED: ReadonlySet<unknown> = new Set([undefined, null, false, ''])

function accessOf({ access }: JsonObject): BesideVersion['access'] {
  if (access === undefined || access === null) return null
  if (access === 'public' || access === 'restricted') return access
  throw unread('it states an access that is neither public nor restricted')
}

/** Members with such names are what registries keep of a package for themselves, such as the addresses of tarballs. */
function requireNoBookkeeping(document: JsonObject): void {
  const strange = Object.keys(document).find((name) => name.startsWith('_') && !BOOKKEEPING.has(name))
  if (strange !== undefined) throw unread(`it states ${JSON.stringify(strange)}, which registries keep themselves`)
}

const BOOKKEEPING: ReadonlySet<string> = new Set(['_id', '_rev', '_attachments'])

/** Members on which the judgement rests; registries in Go take them in letters of any case. */
const DOCUMENT = countingNames(['_id', 'name', 'versions', 'dist-tags', '_attachments', 'maintainers', 'access'])
const VERSION = countingNames(['name', 'version', 'dist', 'deprecated'])
const DIST = countingNames(['integrity', 'shasum', 'tarball'])
const ATTACHMENT = countingNames(['data'])

function requireLetters(members: JsonObject, names: CountingNames): void {
  const other = otherSpelling(members, names)
  if (other !== null) throw unread(`some registries take the member ${JSON.stringify(other)} for another one`)
}

/** Some registries find the file of a version by the last part of the address that its publisher states. */
function requireOwnFile({ tarball: address }: JsonObject, file: string): void {
  if (address === undefined || address === null) return
  if (typeof address !== 'string' || lastPart(address) !== lastPart(file))
    throw unread(`the version names another tarball than ${file}`)
}

function lastPart(path: string): string {
  const part = (path.split(/[?#]/, 1)[0] ?? '').split('/').at(-1) ?? ''
  try {
    return decodeURIComponent(part).split('/').at(-1) ?? ''
  } catch {
    // Not UTF-8: it is no name of a tarball.
    return part
  }
}

/** Registries hand out the checksum that a publication states: one of another tarball would have clients look for that one. */
function requireChecksum({ integrity, shasum }: JsonObject, tarball: Buffer): void {
  if (integrity === undefined && shasum === undefined) return
  if (!isIntact(tarball, textIn(integrity), textIn(shasum)))
    throw unread('the checksum that it states is not that of its tarball')
}

/** One tarball, and behind it at most the statement of where it was built: some registries take the first attachment. */
function tarballOf(attachments: JsonObject): readonly [file: string, bytes: Buffer] {
  const [file, ...further] = Object.keys(attachments)
  if (file === undefined || file.endsWith(PROVENANCE) || further.some((other) => !other.endsWith(PROVENANCE)))
    throw unread('a publication carries exactly one tarball, as its first attachment')
  const attachment = objectOrEmpty(attachments[file], `_attachments.${file}`)
  requireLetters(attachment, ATTACHMENT)
  const { data } = attachment
  // What one decoder skips and another does not would be two tarballs.
  if (typeof data !== 'string' || data.length % 4 !== 0 || !BASE64.test(data))
    throw unread(`the data of ${file} is not base64`)
  return [file, Buffer.from(data, 'base64')]
}

const PROVENANCE = '.sigstore'

const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/

function objectOrEmpty(value: unknown, where: string): JsonObject {
  if (value === undefined || value === null) return {}
  if (isJsonObject(value)) return value
  throw unread(`${where} is not an object`)
}

export function unread(why: string): GatewayError {
  return new GatewayError('PREFLIGHT_UNDECIDED', `The request to the registry has no single reading: ${why}.`)
}

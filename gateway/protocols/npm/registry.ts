/** What the gateway asks of a registry on behalf of one call: with the credentials of that very call, at the origin that it goes to. */
import { GatewayError } from '../../errors/errors.ts'
import type { Flow } from '../../flow/flow.ts'
import { asClause } from '../../json/strict-json.ts'
import { textIn, recordIn } from '../../json/unchecked-json.ts'
import type { Upstreams } from '../../upstream/pools.ts'
import { UpstreamRefusal } from '../common/action.ts'
import type { Call } from '../../calls/call.ts'
import { basePath } from '../common/request-line.ts'
import { askAsCaller, lookupFault, type CallerAnswer } from '../common/caller-request.ts'
import { NEW_PACKAGE, readPackument, type Packument } from './packument.ts'
import { isIntact } from './tarball.ts'

export interface RegistryClient {
  /** @param isWhole with everything that is said of the package, and not only what an installation needs */
  packument(name: string, isWhole: boolean): Promise<Packument>
  /** Null: the registry has no such notion. */
  isPublic(name: string): Promise<boolean | null>
  /** Rejects when it is not what the packument says it is. */
  tarball(name: string, version: string, packument: Packument): Promise<Buffer>
}

interface RegistryDeps {
  readonly upstreams: Upstreams
  readonly readJson: Flow['readJson']
  /** Longest answer that is read. */
  readonly maxBytes: number
}

const UNKNOWN_ENDPOINT: ReadonlySet<number> = new Set([404, 405, 501])

/** What installations are resolved by: a fraction of the whole. */
const SHORT_FORM = 'application/vnd.npm.install-v1+json; q=1.0, application/json; q=0.8, */*'

/** All methods reject with a GatewayError, or with an UpstreamRefusal when the registry does not let this caller look. */
export function createRegistryClient(call: Call, { upstreams, readJson, maxBytes }: RegistryDeps): RegistryClient {
  const ask = async (path: string, accept: string, what: string): Promise<CallerAnswer> => {
    try {
      return await askAsCaller(call, { method: 'GET', path, body: null, accept, maxBytes }, upstreams)
    } catch (error) {
      throw undecidedPublication(`the registry did not hand out ${what}: ${lookupFault(error)}`, error)
    }
  }
  const jsonOf = async (answer: CallerAnswer, what: string): Promise<unknown> => {
    assertGiven(answer, what)
    const json = await readJson(answer.body)
    if (!json.ok) throw undecidedPublication(`${what} cannot be read: ${asClause(json.problem.message)}`)
    return json.value
  }
  const base = basePath(call.route)
  return {
    async packument(name, isWhole) {
      const path = `${base}/${name.replace('/', '%2f')}${isWhole ? '?write=true' : ''}`
      const answer = await ask(path, isWhole ? 'application/json' : SHORT_FORM, `the packument of ${name}`)
      if (answer.status === 404) return NEW_PACKAGE
      const packument = readPackument(await jsonOf(answer, `the packument of ${name}`))
      if (packument === null) throw undecidedPublication(`what the registry says of ${name} is not a packument`)
      return packument
    },
    async isPublic(name) {
      const what = `the access of ${name}`
      const answer = await ask(`${base}/-/package/${name.replace('/', '%2f')}/visibility`, 'application/json', what)
      if (UNKNOWN_ENDPOINT.has(answer.status)) return null
      const { public: isPublic } = recordIn(await jsonOf(answer, what))
      if (typeof isPublic !== 'boolean') throw undecidedPublication(`${what} cannot be read`)
      return isPublic
    },
    async tarball(name, version, packument) {
      const what = `the tarball of ${name}@${version}`
      const dist = packument.versions.get(version)?.['dist']
      const { tarball, integrity, shasum } = recordIn(dist)
      if (typeof tarball !== 'string') throw undecidedPublication(`the registry does not say where ${what} is`)
      const answer = await ask(tarballPath(tarball, name, base, call), '*/*', what)
      assertGiven(answer, what)
      if (!isIntact(answer.body, textIn(integrity), textIn(shasum)))
        throw undecidedPublication(`${what} is not the one whose checksum the registry states`)
      return answer.body
    },
  }
}

/** At the origin of the call, whatever host the registry writes into its addresses: the credentials go nowhere else. */
function tarballPath(address: string, name: string, base: string, { origin }: Call): string {
  if (!URL.canParse(address)) throw undecidedPublication(`"${address}" is not an address of a tarball`)
  const url = new URL(address)
  if (url.origin === origin) return url.pathname + url.search
  const start = [`/${name}/-/`, `/${name.replace('/', '%2f')}/-/`]
    .map((part) => url.pathname.lastIndexOf(part))
    .find((index) => index !== -1)
  if (start === undefined)
    throw undecidedPublication(
      `the registry has its tarballs at another origin (${url.origin}), where the caller is not asked to go`,
    )
  return base + url.pathname.slice(start) + url.search
}

function assertGiven({ status, headers }: CallerAnswer, what: string): void {
  if (status === 200) return
  if (status === 401 || status === 403) {
    const challenge = headers['www-authenticate']
    throw new UpstreamRefusal(status, typeof challenge === 'string' ? { 'www-authenticate': challenge } : {})
  }
  throw undecidedPublication(`the registry answered ${status} to the question for ${what}`)
}

function undecidedPublication(why: string, cause?: unknown): GatewayError {
  return new GatewayError('PREFLIGHT_UNDECIDED', `What this would change is not known: ${why}.`, { cause })
}

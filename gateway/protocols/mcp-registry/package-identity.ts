/**
 * Which package a server.json names, without its version. Some registries have no member for the version, and put it
 * into the identifier.
 */
import { lookupTable } from '../../../engine/base.ts'

/** Identifier without its version, by the kind of registry. Kinds without a row keep the version in a member of its own. */
const WITHOUT_VERSION: Readonly<Record<string, (identifier: string, versions: readonly string[]) => string>> =
  lookupTable({
    oci: imageName,
    docker: imageName,
    mcpb: releaseAddress,
  })

/**
 * @param registryType as server.json has it (`npm`, `oci`, `mcpb` …)
 * @param versions of the package and of the server, where they are stated
 */
export function packageIdentity(registryType: string, identifier: string, versions: readonly string[]): string {
  const without = Object.hasOwn(WITHOUT_VERSION, registryType) ? WITHOUT_VERSION[registryType] : undefined
  return without === undefined ? identifier : without(identifier, versions)
}

/** `ghcr.io:443/acme/pets:1.0.0@sha256:…` is the image `ghcr.io:443/acme/pets`: a tag has no slash behind its colon. */
function imageName(identifier: string): string {
  return identifier.replace(/@.*$/s, '').replace(/:[^/:]*$/, '')
}

/** Release pages of GitHub and GitLab have the tag as a segment of the path; file names often repeat the version. */
const RELEASE_TAG = /(\/releases\/download\/|\/-\/releases\/)[^/]+(?=\/)/

function releaseAddress(identifier: string, versions: readonly string[]): string {
  const named = versions.filter((version) => /\d/.test(version))
  // The longest first: 1.0.0-rc.1 holds 1.0.0.
  return named
    .toSorted((a, b) => b.length - a.length)
    .reduce((address, version) => address.replaceAll(version, '*'), identifier.replace(RELEASE_TAG, '$1*'))
}

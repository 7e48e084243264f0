/**
 * Full names of options that published files define. A contract may write them relative to its package, and mostly does
 * not contain the files that define them (language specification, “Option Names”).
 */
import { outerOf } from './names.ts'

const PUBLISHED =
  /^(?:google\.api\.(?:http|method_signature|field_behavior|field_info|resource|resource_reference|resource_definition|routing|default_host|oauth_scopes|api_version|\w+_visibility)|google\.longrunning\.operation_info|buf\.validate\.(?:message|oneof|field|predefined)|validate\.(?:disabled|ignored|required|rules)|gogoproto\.\w+)$/

/** The full name of an extension as written. The innermost scope comes first, as in the language. */
export function publishedOption(written: string, scope: string): string {
  if (written.startsWith('.')) return written.slice(1)
  for (let around = scope; around !== ''; around = outerOf(around)) {
    const name = `${around}.${written}`
    if (PUBLISHED.test(name)) return name
  }
  return written
}

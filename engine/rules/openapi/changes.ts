/**
 * The changes that OpenAPI walkers report outside of schemas, each with its facts. The compiler refuses a change or
 * fact that is not listed here, in walkers and in rows of rules/openapi/. Every fact is reported each time; empty text
 * means none.
 */
import type { LifecycleChange, RemovalNotice } from '../../schema/lifecycle.ts'

/** Texts that stand for the values of a change in messages, if they differ from the values. */
interface ChangeWords {
  readonly before?: unknown
  readonly after?: unknown
}

interface NamedElement extends ChangeWords {
  readonly name: string
}

type CameOrWent = 'added' | 'removed'
type Began = 'became' | 'ceased'

interface Acted<Action extends string> extends NamedElement {
  readonly action: Action
}

/** A header field, link or status of a response. */
interface OfAnswer extends NamedElement {
  readonly status: string
}

interface OfParameter extends NamedElement {
  readonly place: string
}

interface OfPayload {
  readonly of: 'request' | 'response' | 'callback-request' | 'callback-response'
  readonly status: string
}

/** Dates of a life cycle, if the verdict has them. */
interface LifecycleWords extends ChangeWords {
  readonly kind: LifecycleChange['kind']
  readonly sunset?: string
  readonly before?: string
  readonly days?: number
}

interface Removal extends ChangeWords {
  readonly removal: RemovalNotice
  readonly sunset: unknown
}

interface BodyWords extends ChangeWords {
  readonly action: CameOrWent | Began
  readonly isRequired: boolean
}

interface StatusChange extends ChangeWords {
  readonly action: CameOrWent | 'narrowed'
  readonly status: string
  readonly of: 'default' | 'success' | 'other'
}

interface HeaderExistence extends OfAnswer {
  readonly isRequired: boolean
}

interface HeaderRequiredness extends OfAnswer {
  readonly action: Began
}

interface ParameterAddition extends OfParameter {
  readonly isRequired: boolean
  readonly isInherited: boolean
}

interface ParameterRemoval extends OfParameter, Removal {
  readonly isRequired: boolean
}

interface ParameterAction extends OfParameter {
  readonly action: Began
}

interface ScopeAction<Action extends string> extends Acted<Action> {
  readonly scope: string
}

export interface OpenApiFacts {
  readonly admission: ChangeWords & {
    readonly action: 'tightened' | 'scopes' | 'loosened' | 'withdrawn'
    readonly scheme?: string
    readonly scope?: string
  }
  readonly 'callback-added': NamedElement
  readonly 'callback-address': NamedElement
  readonly 'callback-body': BodyWords
  readonly 'callback-header-added': HeaderExistence
  readonly 'callback-header-removed': HeaderExistence
  readonly 'callback-header-requiredness': HeaderRequiredness
  readonly 'callback-header-writing': OfAnswer
  readonly 'callback-parameter-added': ParameterAddition
  readonly 'callback-parameter-content': OfParameter
  readonly 'callback-parameter-empty': ParameterAction
  readonly 'callback-parameter-moved': OfParameter
  readonly 'callback-parameter-removed': ParameterRemoval
  readonly 'callback-parameter-requiredness': ParameterAction
  readonly 'callback-parameter-style': OfParameter
  readonly 'callback-removed': NamedElement
  readonly 'callback-response-status': StatusChange
  readonly 'callback-security': ChangeWords
  readonly 'component-schema-removed': NamedElement
  readonly 'component-scheme-added': NamedElement
  readonly 'component-scheme-changed': NamedElement & {
    readonly part:
      | 'type'
      | 'url'
      | 'tokenUrl'
      | 'refreshUrl'
      | 'deviceAuthorizationUrl'
      | 'oauth2MetadataUrl'
      | 'openIdConnectUrl'
  }
  readonly 'component-scheme-flow': Acted<CameOrWent> & { readonly flow: string }
  readonly 'component-scheme-removed': NamedElement
  readonly 'component-scope': ScopeAction<CameOrWent | 'changed'>
  readonly 'dangling-reference': NamedElement & { readonly reference: string }
  readonly 'global-scope': ScopeAction<CameOrWent>
  readonly 'global-security': Acted<CameOrWent>
  readonly 'header-added': HeaderExistence
  readonly 'header-removed': HeaderExistence
  readonly 'header-requiredness': HeaderRequiredness
  readonly 'header-writing': OfAnswer
  readonly link: OfAnswer & { readonly action: CameOrWent | 'changed' }
  readonly 'media-type': OfPayload &
    ChangeWords & {
      readonly action: CameOrWent | 'introduced' | 'generalized' | 'specialized' | 'changed' | 'exchanged'
      readonly name?: string
    }
  readonly 'media-type-encoding': OfPayload & NamedElement & { readonly field: string }
  readonly 'media-type-schema': OfPayload & Acted<CameOrWent>
  readonly 'operation-added': ChangeWords
  readonly 'operation-id': ChangeWords & { readonly action: CameOrWent }
  readonly 'operation-lifecycle': LifecycleWords
  readonly 'operation-removed': Removal & { readonly isWholePath: boolean }
  readonly 'operation-scope': ScopeAction<CameOrWent>
  readonly 'operation-security': Acted<CameOrWent>
  readonly 'operation-server': Acted<CameOrWent>
  readonly 'operation-stability': ChangeWords & { readonly step: 'invalid' | 'decreased' | 'increased' }
  readonly 'operation-tag': Acted<CameOrWent>
  /** `isAdded`: in a path, operation or webhook that is new as a whole. */
  readonly 'malformed-part': NamedElement & { readonly form: string; readonly isAdded: boolean }
  readonly 'parameter-added': ParameterAddition
  readonly 'parameter-content': OfParameter
  readonly 'parameter-empty': ParameterAction
  readonly 'parameter-lifecycle': OfParameter & LifecycleWords
  readonly 'parameter-moved': OfParameter
  readonly 'parameter-removed': ParameterRemoval
  readonly 'parameter-requiredness': ParameterAction
  readonly 'parameter-style': OfParameter
  readonly 'path-shadowed': NamedElement & { readonly before: string }
  readonly 'request-body': BodyWords
  readonly 'response-status': StatusChange
  /** `name`: the pointer of the schema; empty for the contract. */
  readonly 'schema-dialect': NamedElement
  readonly server: Acted<CameOrWent>
  readonly 'server-variable': NamedElement & { readonly part: 'default' | 'narrowed' | 'widened' }
  readonly version: ChangeWords & { readonly step: 'same' | 'decreased' | 'minor' }
  readonly 'webhook-added': NamedElement
  readonly 'webhook-removed': NamedElement
}

export type OpenApiChange = keyof OpenApiFacts

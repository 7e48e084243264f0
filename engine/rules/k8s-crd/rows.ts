/** What changes of a custom resource definition mean, beside those of its schemas, which fall under the families. */
import type { Direction, Level } from '../../finding.ts'
import { contractRules, type ContractRow } from '../contract-row.ts'
import type { Effect } from '../rule.ts'
import { EXTENSION_ROWS } from './extension-rows.ts'

const NOTHING_TO_DO = 'Nothing needs to be done.'
const STILL_WORKS = 'What clients and controllers use goes on working.'

type Words = readonly [
  level: Level,
  kind: string,
  action: string,
  effect: Effect,
  says: string,
  why?: string,
  fix?: string,
]

function rowOf([level, kind, action, effect, says, why = STILL_WORKS, fix = NOTHING_TO_DO]: Words): ContractRow {
  const direction: Direction = 'none'
  return { level, direction, area: 'kubernetes', kind, action, effect, says, why, fix }
}

const WORDS = {
  'crd-added': ['info', 'existence', 'added', 'widens', 'the resource {name} was added'],
  'crd-removed': [
    'breaking',
    'existence',
    'removed',
    'narrows',
    'the resource {name} was removed',
    'Removing a definition deletes every object of the resource, and clients that ask for one fail.',
    'Stop serving the resource only after its objects were moved or are not needed any more.',
  ],
  'crd-scope-changed': [
    'breaking',
    'identity',
    'changed',
    'moves',
    'the resource is {after} instead of {before} (scope)',
    'The scope cannot be changed in place: the definition must be deleted, and all objects with it; paths of every request change.',
    'Publish the resource under another name with the new scope, and move its objects.',
  ],
  'crd-group-changed': [
    'breaking',
    'identity',
    'changed',
    'moves',
    'the resource belongs to the group {after} instead of {before}',
    'It is another resource: clients and stored objects of the old group are left behind.',
    'Serve the resource in both groups until clients have moved.',
  ],
  'crd-name-changed': [
    'breaking',
    'identity',
    'changed',
    'moves',
    'the name `{name}` of the resource is {after} instead of {before}',
    'Clients, manifests and access rules name the resource by it; the API server refuses the change in place.',
    'Keep the names of a resource; publish a new one where another name is needed.',
  ],
  'crd-short-name-removed': [
    'dangerous',
    'identity',
    'removed',
    'may-narrow',
    'the short name `{name}` was removed',
    'Scripts that name the resource by it fail.',
    'Keep the short name.',
  ],
  'crd-short-name-added': ['info', 'identity', 'added', 'widens', 'the short name `{name}` was added'],
  'crd-category-removed': [
    'dangerous',
    'identity',
    'removed',
    'may-narrow',
    'the resource left the category `{name}`',
    'Scripts that list the category no longer see its objects.',
    'Keep the category.',
  ],
  'crd-category-added': ['info', 'identity', 'added', 'widens', 'the resource joined the category `{name}`'],
  'crd-version-added': ['info', 'versions', 'added', 'widens', 'the version {name} was added'],
  'crd-version-removed': [
    'breaking',
    'versions',
    'removed',
    'narrows',
    'the version {name} was removed',
    'Clients and manifests of the version fail, and the API server refuses the change while it stands in status.storedVersions.',
    'Deprecate the version, then stop serving it, move stored objects, and remove it last.',
  ],
  'crd-version-retired': [
    'info',
    'versions',
    'removed',
    'none',
    'the version {name}, which was not served, was removed',
    'No client could use it.',
  ],
  'crd-version-not-served': [
    'breaking',
    'versions',
    'ceased',
    'narrows',
    'the version {name} is no longer served',
    'Clients and manifests of the version fail.',
    'Deprecate the version and give clients time to move.',
  ],
  'crd-version-served': ['info', 'versions', 'became', 'widens', 'the version {name} is served'],
  'crd-version-deprecated': ['info', 'lifecycle', 'deprecated', 'none', 'the version {name} was deprecated'],
  'crd-version-reactivated': ['info', 'lifecycle', 'reactivated', 'none', 'the version {name} is no longer deprecated'],
  'crd-storage-version-changed': [
    'dangerous',
    'versions',
    'changed',
    'may-narrow',
    'objects are stored as {after} instead of {before}',
    'Objects that are stored already stay in the old version until each is written again; until then both must convert.',
    'Move stored objects to the new version, and check the conversion in both directions first.',
  ],
  'crd-conversion-changed': [
    'dangerous',
    'versions',
    'changed',
    'may-narrow',
    'objects are converted between versions by {after} instead of {before}',
    'Without conversion only the apiVersion is rewritten: members that differ between the versions are lost. With a webhook, reading fails where the webhook does.',
    'Check that every version survives the way to every other and back.',
  ],
  'crd-conversion-webhook-changed': [
    'dangerous',
    'versions',
    'changed',
    'may-narrow',
    'the webhook that converts objects is another one, or is called in another way',
    'Every read of an object in another version than it is stored in goes through the webhook.',
    'Have the new webhook in place before the definition names it.',
  ],
  'crd-status-subresource-removed': [
    'breaking',
    'subresources',
    'removed',
    'narrows',
    'the status subresource was removed',
    'Controllers that write the status through it fail, and users can write it with the object.',
    'Keep the subresource.',
  ],
  'crd-status-subresource-added': [
    'dangerous',
    'subresources',
    'added',
    'may-narrow',
    'the status subresource was added',
    'From now on a status that is written with the object is dropped in silence: controllers must write it through the subresource.',
    'Update controllers and their access rules first.',
  ],
  'crd-scale-subresource-removed': [
    'breaking',
    'subresources',
    'removed',
    'narrows',
    'the scale subresource was removed',
    'Autoscalers and kubectl scale fail for the resource.',
    'Keep the subresource.',
  ],
  'crd-scale-subresource-added': ['info', 'subresources', 'added', 'widens', 'the scale subresource was added'],
  'crd-scale-subresource-changed': [
    'dangerous',
    'subresources',
    'changed',
    'may-narrow',
    'the scale subresource reads and writes other members of the object',
    'Autoscalers then act on other numbers than they did.',
    'Keep both members in step until nobody uses the old one.',
  ],
  'crd-selectable-field-removed': [
    'breaking',
    'queries',
    'removed',
    'narrows',
    'objects can no longer be selected by `{name}`',
    'Clients that list or watch with the field selector are refused.',
    'Keep the field selectable.',
  ],
  'crd-selectable-field-added': ['info', 'queries', 'added', 'widens', 'objects can be selected by `{name}`'],
  'crd-printer-column-removed': [
    'info',
    'display',
    'removed',
    'none',
    'the column `{name}` of tables was removed',
    'Only what is printed for people changes.',
  ],
  'crd-printer-column-added': ['info', 'display', 'added', 'none', 'the column `{name}` of tables was added'],
  'crd-printer-column-changed': [
    'info',
    'display',
    'changed',
    'none',
    'the column `{name}` of tables changed',
    'Only what is printed for people changes.',
  ],
  'crd-schema-removed': [
    'dangerous',
    'validation',
    'removed',
    'may-widen',
    'objects are no longer validated',
    'Readers may receive objects of any form.',
    'Keep the schema.',
  ],
  'crd-schema-added': [
    'breaking',
    'validation',
    'added',
    'narrows',
    'objects are validated, which they were not',
    'Objects that do not keep to the schema are refused, and members that it does not name are dropped.',
    'Check stored objects against the schema before it takes effect.',
  ],
  ...EXTENSION_ROWS,
} as const satisfies Readonly<Record<`crd-${string}`, Words>>

export type CrdRuleId = keyof typeof WORDS

export const CRD_RULES = contractRules(
  Object.fromEntries(Object.entries(WORDS).map(([id, words]: [string, Words]) => [id, rowOf(words)])),
)

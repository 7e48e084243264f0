/**
 * The general sentence of a rule, for lists of rules: the message of its findings without their values. Most are
 * derived step by step. Where the steps would read badly, the sentence is written here.
 */
import { lookupTable } from '../common/lookup-table.ts'

const HOLE = '[`“]?\\{\\w+\\}[`”]?'
const WORD = '(?!(?:of|the|to|is|was|on|in|by|as|at|for|with|from|and|may|its|a|an|has|had|got|lost)\\b)[\\w-]+'

/** By the sentence of the findings. */
const WRITTEN: Readonly<Record<string, string>> = lookupTable({
  'got the types {name} beside {before}': 'got further types',
  'lost the types {name} of {before}': 'lost some of its types',
  'got the positional items {name}': 'got positional items',
  'lost the positional items {name}': 'lost positional items',
  'got {name} in its allOf, which holds annotations only': 'got a schema in its allOf that holds annotations only',
  'lost {name} of its allOf, which held annotations only': 'lost a schema of its allOf that held annotations only',
  'must be a multiple of {after}, not only of {before}': 'must be a multiple of a larger number',
  'must be a multiple of {after} only, no longer of {before}': 'may be a multiple of a smaller number',
  'must be a multiple of {after} instead of {before}': 'must be a multiple of another number',
  'an option of `{name}` that callers depend on changed: {before} → {after}':
    'an option that callers depend on changed',
  'the extension `{name}` is {after} instead of {before}': 'an extension has another number or message',
  'whether the message `{name}` is written as a message set changed from {before} to {after}':
    'whether a message is written as a message set changed',
  'the value {before} of the enum `{name}` is written as {after} in JSON':
    'the value of an enum is written by another name in JSON',
  'is written in XML as {after} instead of {before}': 'is written in another form in XML',
  'maps the discriminator value `{name}` to {after} instead of {before}':
    'maps a discriminator value to another schema',
  'how the model chooses tools changed: `{name}` went from {before} to {after}': 'how the model chooses tools changed',
  'the name of the new tool `{name}` differs from `{detail}` in letter case and separators only':
    'the name of a new tool differs from another one in letter case and separators only',
  'a schema of the tool states a dialect that clients need not know ({before} → {after})':
    'a schema of the tool states a dialect that clients need not know',
  'the version {after} has another schema than {before}, in which objects are stored, and nothing converts them':
    'a version has another schema than the one in which objects are stored, and nothing converts them',
  '{detail}; clients do not see it (@inaccessible)':
    'an element that clients do not see changed in a way that breaks its users (@inaccessible)',
  'needs {after} when `{name}` is there': 'needs further properties when a property is there',
  'needs {after} instead of {before} when `{name}` is there': 'needs other properties when a property is there',
  'no longer needs {before} when `{name}` is there': 'no longer needs further properties when a property is there',
  'the operation id `{before}` was replaced with `{after}`': 'the operation id was replaced',
  'the operation id `{after}` was added': 'the operation id was added',
  'the path parameter `{name}` took the place of `{before}`': 'the order of the path parameters changed',
  'the parameter `{name}` of the address took the place of `{before}`':
    'the order of the parameters of the address changed',
  'the operation requires {after} instead of {before}, so that callers are refused':
    'the operation requires other credentials, so that callers are refused',
  'the operation requires more scopes: {after} instead of {before}': 'the operation requires more scopes',
  'the operation lets in more callers: it requires {after} instead of {before}': 'the operation lets in more callers',
  'the scope `{scope}` of `{name}` is described as `{after}` instead of `{before}`':
    'the description of a scope of a security scheme changed',
  'the stability level `{after}` is none of draft, alpha, beta, stable':
    'the stability level is none of draft, alpha, beta, stable',
  'the security scheme `{name}` is of type {after} instead of {before}': 'a security scheme is of another type',
  'the enum `{name}` is {after} now, and was {before}': 'an enum became open or closed',
  'the request of the rpc `{name}` is {after} now, and was {before}':
    'whether the request of an rpc is a stream changed',
  'the response of the rpc `{name}` is {after} now, and was {before}':
    'whether the response of an rpc is a stream changed',
  'the request of the rpc `{name}` changed from {before} to {after}': 'the type of the request of an rpc changed',
  'the response of the rpc `{name}` changed from {before} to {after}': 'the type of the response of an rpc changed',
  'something breaks, but the version is still {before}': 'something breaks, but the version is still the same',
  'something breaks, but the major version is the same in {before} and {after}':
    'something breaks, but the major version is still the same',
  'the {place} parameter `{name}` is sent in addition': 'a further parameter is sent',
  'the response {status} is never {name} any more': 'a response no longer has one of its media types',
  'the response {status} may be {name}': 'a response may have a further media type',
  'the response {status} is {after} instead of {before}': 'a response has another media type',
  'the response {status} is {after} instead of the more general {before}': 'a response has a more specific media type',
  'the response {status} is {after} instead of the more specific {before}': 'a response has a more general media type',
  'the provider sends {after} instead of {before}': 'the provider sends another media type',
  'the provider sends {after} instead of the more general {before}': 'the provider sends a more specific media type',
  'the provider sends {after} instead of the more specific {before}': 'the provider sends a more general media type',
  'the provider may also send {name}': 'the provider may also send a further media type',
  'the provider no longer sends {name}': 'the provider no longer sends one of its media types',
  'the provider also reads the answer {status}': 'the provider also reads a further answer',
  'the provider reads only some of the answers {status}': 'the provider reads only some answers of a range',
  'the answer {status} may be {name}': 'an answer may have a further media type',
  'the answer {status} has a body now: {name}': 'an answer has a body now',
  'the answer {status} may no longer be {name}': 'an answer may no longer have one of its media types',
  'the request body may be {name}': 'the request body may have a further media type',
  'the request body may no longer be {name}': 'the request body may no longer have one of its media types',
  'the responses {status} are narrowed to the statuses that are listed':
    'a range of responses is narrowed to the statuses that are listed',
  'the tool `{before}` is gone; `{after}` looks like the same tool under another name':
    'a tool is gone, and another one looks like the same tool under another name',
  'a schema of the tool refers to `{after}`, which it does not hold':
    'a schema of the tool refers to something that it does not hold',
  'callers need {after} instead of {before} (securitySchemes)': 'callers need other credentials (securitySchemes)',
  'the tool now says that it does less harm ({name}: {before} → {after})': 'the tool now says that it does less harm',
  'how the tool is to be run changed: `{name}` went from {before} to {after}': 'how the tool is to be run changed',
  'a resource is meant for {after} instead of {before} (audience)': 'a resource is meant for another audience',
  '`{name}` of a resource changed from {before} to {after}': 'an annotation of a resource changed',
  'icons are loaded from {detail}, where none came from before':
    'icons are loaded from an origin where none came from before',
  '`{name}` changed from {before} to {after}': 'additional data (_meta) changed',
  'the server calls itself {after} instead of {before}': 'the server has another name',
  '`{name}` of the server changed from {before} to {after}': 'what the server says of itself changed',
  'the server now states what callers need: `{name}`': 'the server now states what callers need',
  '{name} changed: {detail}': 'a description that models read changed',
  '{name} reads differently: {detail}': 'a description that models read has other words',
  '`{name}` is deprecated now': 'a declaration is deprecated now',
  'the tool is strict, and `{name}` of its schema is not what the provider demands of such a tool':
    'a strict tool has a schema that is not what the provider demands of such a tool',
  'an option of `{name}` changed: {before} → {after}': 'an option of a declaration changed',
  'a feature of `{name}` for one language changed: {before} → {after}':
    'a feature of a declaration for one language changed',
  'calls of the rpc `{name}` by {before} may reach another rpc, which now has {after}':
    'calls of an rpc by HTTP may reach another rpc, whose path matches too',
  'the part `{name}` has to be {form} and is not, so that its change was not judged':
    'a part has another JSON type than it must have, so that its change was not judged',
  'the part `{name}` is new and has to be {form}, which it is not':
    'a part of an added path, operation or webhook has another JSON type than it must have',
  '{before} is no longer wholly reserved in the message `{name}`':
    'a range of numbers is no longer wholly reserved in a message',
  '{before} is no longer wholly reserved in the enum `{name}`':
    'a range of numbers is no longer wholly reserved in an enum',
  '{before} is no longer wholly open to extensions of the message `{name}`':
    'a range of numbers is no longer wholly open to extensions of a message',
  'JSON of the message `{name}` is {after} now, and was {before}': 'the support of JSON for a message changed',
  'JSON of the enum `{name}` is {after} now, and was {before}': 'the support of JSON for an enum changed',
  'the field `{name}` was called {before}, in JSON too': 'a field has another name, in JSON too',
  'the field `{name}` was called {before}; its JSON name stays': 'a field has another name; its JSON name stays',
  'the field `{name}` is {after} in JSON now, and was {before}': 'a field has another name in JSON',
  'the field `{name}` is required now, and was {before}': 'a field is required now, and was not',
  'the field `{name}` is {after} now, and was required': 'a field is no longer required',
  'the field `{name}` is {after} now, and was {before}, which JSON writes otherwise':
    'a field is single or repeated now, and was not, which JSON writes otherwise',
  'the field `{name}` is in {after} now, and was in {before}': 'a field is in another oneof, or left or joined one',
  'the field `{name}` is {after} in C++ now, and was {before}': 'a field has another string type in C++',
  'the field `{name}` is written {after} now, and was {before}': 'a field is written in another way',
  'the field `{name}` changed its type from {before} to {after}, which are written alike':
    'a field changed its type to one that is written alike',
  'the field `{name}` has the jstype {after} now, and had {before}': 'a field has another jstype',
  'the field `{name}` has the UTF-8 validation {after} in Java now, and had {before}':
    'a field has another UTF-8 validation in Java',
  'the field `{name}` has the UTF-8 validation {after} now, and had {before}': 'a field has another UTF-8 validation',
  'the value {before} of the enum `{name}` is called {after} now': 'a value of an enum has another name',
  'the rpc `{name}` can also be called by {after}': 'an rpc can also be called by a further HTTP binding',
  'the rpc `{name}` can no longer be called by {before} (instead: {after})':
    'an rpc can no longer be called by one of its HTTP bindings',
  'the schema no longer offers {name} operations (their root type was `{before}`)':
    'the schema no longer offers operations of one kind (query, mutation or subscription)',
  'the schema now offers {name} operations (their root type is `{after}`)':
    'the schema now offers operations of a further kind (query, mutation or subscription)',
  'the root type of {name} operations changed from `{before}` to `{after}`': 'the root type of operations changed',
  'the {detail} `{name}` was removed': 'a type was removed',
  'the {detail} `{name}` was added': 'a type was added',
  '`{name}` was {before} and is now {after}': 'a type is now of another kind',
  'the description of `{name}` changed': 'the description of a type changed',
  '`{name}` is of the type `{after}`, which the schema does not define':
    'something is of a type that the schema does not define',
  '`{name}` no longer implements the interface `{before}`': 'a type no longer implements an interface',
  '`{name}` now implements the interface `{after}`': 'a type now implements an interface',
  'the scalar `{name}` is now specified by {after}': 'a scalar is now specified by a document',
  'the scalar `{name}` is no longer specified by {before}': 'a scalar is no longer specified by a document',
  'the directive `{name}` is no longer allowed on {before}': 'a directive is no longer allowed at a location',
  'the directive `{name}` is now allowed on {after}': 'a directive is now allowed at a further location',
  'the directive `{detail}` on {name} now gives {after}': 'a directive in use got an argument',
  'the directive `{detail}` on {name} no longer gives {before}': 'a directive in use lost an argument',
  'the directive `{detail}` on {name} gives {after} instead of {before}':
    'a directive in use gives an argument another value',
  'the directive `{after}` was put on {name}': 'a directive was put on an element',
  'the directive `{before}` was taken from {name}': 'a directive was taken from an element',
  'the standard scalar `{name}` is no longer used anywhere, and no longer part of the schema':
    'a standard scalar is no longer used anywhere, and no longer part of the schema',
  'the reply goes to what the request says in {after} instead of {before}':
    'the reply goes to what the request says in another place',
  'the schema changed in another language than JSON Schema ({name})':
    'the schema changed in another language than JSON Schema',
  'readers cannot read what is sent by the changed schema, or by the one before ({name})':
    'readers cannot read what is sent by the changed schema, or by the one before',
  'the schema changed in a way that its language calls compatible ({name})':
    'the schema changed in a way that its language calls compatible',
  'the schema is described in {after} instead of {before} (schemaFormat)':
    'the schema is described in another language (schemaFormat)',
  'the message is written as {after} instead of {before}': 'the message has another content type',
  'the document is written in AsyncAPI {after} instead of {before}':
    'the document is written in another version of AsyncAPI',
  'the schema is written in {after} instead of {before} ($schema)': 'the schema is written in another draft ($schema)',
  'the {name} binding went from {before} to {after}': 'a binding changed',
  'the server `{name}` speaks {after} instead of {before}': 'a server speaks another protocol',
  'the server `{name}` is at {after} instead of {before}': 'a server is at another address',
  'the callback `{name}` goes to {after} instead of {before}': 'a callback goes to another address',
  'one may also authenticate by {name}': 'one may also authenticate in a further way',
  'one can no longer authenticate by {name}': 'one can no longer authenticate in one of the ways',
  'one must now authenticate by {after} instead of {before}': 'one must now authenticate with more scopes',
  'tokens for {name} are asked for elsewhere: {before} → {after}': 'tokens are asked for elsewhere',
  'a reference leads to `{after}`, which neither the document nor the files with it hold':
    'a reference leads to something that neither the document nor the files with it hold',
  'the name `{name}` of the resource is {after} instead of {before}': 'a name of the resource changed',
  'the resource is {after} instead of {before} (scope)': 'the scope of the resource changed',
  'objects are stored as {after} instead of {before}': 'objects are stored in another version',
  'objects can no longer be selected by `{name}`': 'objects can no longer be selected by a field',
  'objects can be selected by `{name}`': 'objects can be selected by a further field',
  'the list is merged as {after} instead of {before} (x-kubernetes-list-type)':
    'the list is merged in another way (x-kubernetes-list-type)',
  'the object is merged as {after} instead of {before} (x-kubernetes-map-type)':
    'the object is merged in another way (x-kubernetes-map-type)',
  'the tool is now called as a {after} tool instead of a {before} one':
    'the tool is now called as a tool of another kind',
  'the hosted tool is now `{after}` instead of `{before}`': 'the hosted tool is now of another type',
  'the protocol version went from {before} to {after}': 'the protocol version went up',
  'admits properties matching `{name}` that it did not admit':
    'admits properties matching a pattern that it did not admit',
  'may refuse values that it admitted: {after}': 'may refuse values that it admitted',
  'may admit values that it did not admit: {after}': 'may admit values that it did not admit',
})

/** Applied in this order. */
const STEPS: readonly (readonly [pattern: RegExp, general: string])[] = [
  // The values before and after.
  [new RegExp(`, (?:such as ${HOLE}|and was ${HOLE}|and had ${HOLE})`, 'g'), ''],
  [/\{place\} /g, ''],
  [/, less than \{days\} days ahead/g, ', nearer than promised'],
  [new RegExp(`:? \\(?${HOLE} → ${HOLE}\\)?`, 'g'), ''],
  [new RegExp(` went from ${HOLE} to ${HOLE}`, 'g'), ' changed'],
  [new RegExp(` from ${HOLE} to ${HOLE}`, 'g'), ''],
  [new RegExp(`: ${HOLE}$`, 'g'), ''],
  [new RegExp(` the (${WORD}) ${HOLE}( of its protocol)? instead of ${HOLE}`, 'g'), ' another $1$2'],
  [new RegExp(` by ${HOLE} instead of ${HOLE}`, 'g'), ' in another way'],
  [new RegExp(` takes ${HOLE} instead of ${HOLE}`, 'g'), ' takes other values'],
  [new RegExp(` is ${HOLE} by default instead of ${HOLE}`, 'g'), ' has another default'],
  [new RegExp(` is (written|sent) as ${HOLE} instead of ${HOLE}`, 'g'), ' is $1 in another form'],
  [new RegExp(` is (?:of type )?${HOLE} instead of ${HOLE}`, 'g'), ' changed'],
  [new RegExp(` is ${HOLE} now$`, 'g'), ' changed'],
  // Values and names that only a finding has.
  [new RegExp(` of type ${HOLE}`, 'g'), ''],
  [new RegExp(`\\b(its (?:maximum|minimum|exclusive\\w+|max\\w+|min\\w+)) of ${HOLE}`, 'g'), '$1'],
  [new RegExp(`\\bits (default|pattern) ${HOLE}`, 'g'), 'its $1'],
  [new RegExp(` with the sunset day ${HOLE}`, 'g'), ' with a sunset day'],
  [new RegExp(` sunset day ${HOLE}`, 'g'), ' sunset day'],
  [new RegExp(`, and ${HOLE} is no date`, 'g'), ', and the new one is no date'],
  [new RegExp(` multiple of ${HOLE}`, 'g'), ' multiple of a number'],
  [new RegExp(` (matching) ${HOLE}`, 'g'), ' $1 a pattern'],
  [new RegExp(` when ${HOLE} is there`, 'g'), ' when a property is there'],
  [new RegExp(` valid against ${HOLE}`, 'g'), ' valid against a further schema'],
  [new RegExp(` schema for ${HOLE}`, 'g'), ' schema for a media type'],
  [new RegExp(`(scope|address) (${HOLE} )?of ${HOLE}`, 'g'), '$1 $2of a security scheme'],
  [new RegExp(` of the ${HOLE} (request body|callback|answer|response)`, 'g'), ' of the $1'],
  [new RegExp(`^(\`@\\w+\`) was put on ${HOLE}`, 'g'), '$1 was put on an element'],
  [new RegExp(`^(\`@\\w+\`) was taken from ${HOLE}`, 'g'), '$1 was taken from an element'],
  [new RegExp(`^(\`@\\w+\`) on ${HOLE} (changed|was loosened)`, 'g'), '$1 on an element $2'],
  [new RegExp(`^${HOLE} (holds|tells|mentions)`, 'g'), 'a text that models read $1'],
  [new RegExp(`the binding’s ${HOLE}`, 'g'), 'a setting of the binding'],
  [new RegExp(`\\bthe ((?:${WORD} )*?)(${WORD}) ${HOLE}`, 'g'), 'a $1$2'],
]

const KNOWN = new Map<string, string>()

/**
 * @param specific the sentence of findings, with placeholders: `the parameter \`{name}\` was removed`
 * @throws if a placeholder would remain
 */
export function generalSentence(specific: string): string {
  const known = KNOWN.get(specific)
  if (known !== undefined) return known
  const general = WRITTEN[specific] ?? STEPS.reduce((text, [from, to]) => text.replaceAll(from, to), specific)
  if (/[{}→]/.test(general)) throw new Error(`write a general sentence for “${specific}”: “${general}”`)
  const sentence = general.replaceAll('`', '').replaceAll(/\ba (?=[aei]|o(?!ne)|OAuth|rpc)/g, 'an ')
  KNOWN.set(specific, sentence)
  return sentence
}

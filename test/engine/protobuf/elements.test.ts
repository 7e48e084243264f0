/**
 * Every element of a .proto file (proto2, proto3, editions), with each action, in both directions: what it is at the worst.
 * It is one table, so that an element which is missing can be seen.
 */
import { checkElements, type ElementRow, type Worst } from '../elements.ts'

interface Parts {
  readonly head?: string
  readonly imports?: string
  readonly message?: string
  readonly enumeration?: string
  readonly service?: string
  readonly rest?: string
}

const PROTO_3 = 'syntax = "proto3"; package p;'
const PROTO_2 = 'syntax = "proto2"; package p;'
const EDITION = 'edition = "2023"; package p;'

function file({
  head = PROTO_3,
  imports = '',
  message = 'int32 a = 1;',
  enumeration,
  service,
  rest = '',
}: Parts): string {
  return `${head}\n${imports}\nmessage M { ${message} }\nenum E { ${enumeration ?? 'ZERO = 0; ONE = 1;'} }\nmessage N {}\nservice S { ${service ?? 'rpc Get(M) returns (N);'} }\n${rest}\n`
}

const message = (text: string): Parts => ({ message: text })
const old = (text: string): Parts => ({ head: PROTO_2, message: text })
const edition = (text: string, head = ''): Parts => ({ head: `${EDITION} ${head}`, message: text })
const option = (text: string): Parts => ({ head: `${PROTO_3} ${text}` })
const rpc = (text: string): Parts => ({ service: text })
const http = (text: string): Parts => ({
  imports: 'import "google/api/annotations.proto";',
  service: `rpc Get(M) returns (N) { option (google.api.http) = { ${text} }; }`,
})

/** A range that is open to one extension. */
const DECLARED = (text: string): string => `extensions 100 to 199 [declaration = { number: 100 ${text} }];`

type Stated = readonly [text: string, forth: Worst, back: Worst]

/** By which servers accept and answer calls, and one that concerns no caller. */
const FIELD_OPTIONS: readonly Stated[] = [
  ['(buf.validate.field).int32.gt = 5', 'breaking', 'info'],
  ['(.buf.validate.field).required = true', 'breaking', 'info'],
  ['(buf.validate.field).repeated.items.required = true', 'dangerous', 'dangerous'],
  ['(validate.rules).int32.gt = 5', 'breaking', 'info'],
  ['(google.api.field_behavior) = REQUIRED', 'breaking', 'info'],
  ['(google.api.field_behavior) = INPUT_ONLY', 'dangerous', 'dangerous'],
  ['(google.api.field_behavior) = OUTPUT_ONLY', 'dangerous', 'dangerous'],
  ['(google.api.field_behavior) = OPTIONAL', 'info', 'info'],
  ['(google.api.field_visibility).restriction = "INTERNAL"', 'dangerous', 'dangerous'],
  ['(google.api.field_info).format = UUID4', 'dangerous', 'dangerous'],
  ['(google.api.resource_reference).type = "a.example/Note"', 'info', 'dangerous'],
  ['(grpc.gateway.protoc_gen_openapiv2.options.openapiv2_field).title = "t"', 'info', 'info'],
]

const SERVICE_OPTIONS: readonly Stated[] = [
  ['(google.api.oauth_scopes) = "s"', 'dangerous', 'dangerous'],
  ['(google.api.default_host) = "h"', 'dangerous', 'dangerous'],
  ['(google.api.api_visibility).restriction = "INTERNAL"', 'dangerous', 'dangerous'],
  ['(google.api.api_version) = "v1"', 'info', 'info'],
]

const FILE_OPTIONS: readonly Stated[] = [
  ['java_package = "x"', 'dangerous', 'dangerous'],
  ['java_outer_classname = "X"', 'dangerous', 'dangerous'],
  ['java_multiple_files = true', 'dangerous', 'dangerous'],
  ['go_package = "x/y"', 'dangerous', 'dangerous'],
  ['csharp_namespace = "X"', 'dangerous', 'dangerous'],
  ['objc_class_prefix = "X"', 'dangerous', 'dangerous'],
  ['php_namespace = "X"', 'dangerous', 'dangerous'],
  ['php_class_prefix = "X"', 'dangerous', 'dangerous'],
  ['php_metadata_namespace = "X"', 'dangerous', 'dangerous'],
  ['ruby_package = "X"', 'dangerous', 'dangerous'],
  ['swift_prefix = "X"', 'dangerous', 'dangerous'],
  ['optimize_for = CODE_SIZE', 'dangerous', 'dangerous'],
  ['cc_enable_arenas = false', 'dangerous', 'dangerous'],
  ['cc_generic_services = true', 'dangerous', 'dangerous'],
  ['java_generic_services = true', 'dangerous', 'dangerous'],
  ['py_generic_services = true', 'dangerous', 'dangerous'],
  ['java_string_check_utf8 = true', 'info', 'info'],
  ['deprecated = true', 'info', 'none'],
  ['(x.y) = 3', 'info', 'info'],
]

/** Of editions; fields of each kind are there. */
const FEATURES: readonly Stated[] = [
  ['features.field_presence = IMPLICIT', 'dangerous', 'dangerous'],
  ['features.enum_type = CLOSED', 'dangerous', 'dangerous'],
  ['features.repeated_field_encoding = EXPANDED', 'info', 'info'],
  ['features.utf8_validation = NONE', 'dangerous', 'dangerous'],
  ['features.message_encoding = DELIMITED', 'breaking', 'breaking'],
  ['features.json_format = LEGACY_BEST_EFFORT', 'breaking', 'none'],
  ['features.(pb.go).api_level = API_OPAQUE', 'dangerous', 'dangerous'],
  ['features.enforce_naming_style = STYLE_LEGACY', 'info', 'info'],
]

/** A contract in a package of Google, whose options may have relative names. */
const relative = (path: string): Parts => ({
  head: PROTO_3.replace('package p', 'package google.p'),
  service: `rpc Get(M) returns (N) { option (api.http) = { get: "${path}" }; }`,
})
const resource = (patterns: string): Parts =>
  message(`option (google.api.resource) = { type: "a.example/Note" ${patterns} }; string a = 1;`)
const routed = (fields: readonly string[]): Parts => {
  const parameters = fields.map((field) => `routing_parameters { field: "${field}" }`)
  return rpc(`rpc Get(M) returns (N) { option (google.api.routing) = { ${parameters.join(' ')} }; }`)
}

const KINDS = 'int32 a = 1; repeated int32 b = 2; string c = 3; N d = 4; E e = 5;'

const ELEMENTS: readonly ElementRow<Parts>[] = [
  ['a binding under a relative name', relative('/a'), relative('/b'), 'breaking', 'breaking'],
  ['a pattern of names', resource('pattern: "a/{a}"'), resource('pattern: "b/{a}"'), 'dangerous', 'dangerous'],
  [
    'a further pattern of names',
    resource('pattern: "a/{a}"'),
    resource('pattern: "a/{a}" pattern: "b/{a}"'),
    'info',
    'dangerous',
  ],
  ['a field by which calls are routed', routed(['a']), routed(['b']), 'dangerous', 'dangerous'],
  ['a further field by which calls are routed', routed(['a']), routed(['a', 'b']), 'info', 'dangerous'],
  ['a message', {}, { rest: 'message X {}' }, 'info', 'dangerous'],
  ['a nested message', {}, message('int32 a = 1; message X {}'), 'info', 'dangerous'],
  ['an enum', {}, { rest: 'enum X { X_ZERO = 0; }' }, 'info', 'dangerous'],
  ['a service', {}, { rest: 'service X { rpc Get(M) returns (N); }' }, 'info', 'breaking'],
  ['a field', message('int32 a = 1;'), message('int32 a = 1; int32 b = 2;'), 'info', 'breaking'],
  [
    'a field whose number and name stay reserved',
    message('int32 a = 1; int32 b = 2;'),
    message('int32 a = 1; reserved 2; reserved "b";'),
    'dangerous',
    'breaking',
  ],
  ['the number of a field', message('int32 a = 1;'), message('int32 a = 2;'), 'breaking', 'breaking'],
  ['the name of a field', message('int32 a = 1;'), message('int32 b = 1;'), 'breaking', 'breaking'],
  ['the spelling of a field', message('int32 foo_bar = 1;'), message('int32 fooBar = 1;'), 'breaking', 'breaking'],
  ['the type of a field on another wire', message('int32 a = 1;'), message('string a = 1;'), 'breaking', 'breaking'],
  ['the type of a field on the same wire', message('int32 a = 1;'), message('int64 a = 1;'), 'breaking', 'breaking'],
  ['the sign of a field', message('int32 a = 1;'), message('sint32 a = 1;'), 'breaking', 'breaking'],
  ...(['int32 uint32', 'int64 uint64', 'fixed32 sfixed32', 'fixed64 sfixed64'] as const).map(
    (types): ElementRow<Parts> => {
      const [one = '', other = ''] = types.split(' ')
      return [`negative values: ${types}`, message(`${one} a = 1;`), message(`${other} a = 1;`), 'breaking', 'breaking']
    },
  ),
  ['bytes and text', message('string a = 1;'), message('bytes a = 1;'), 'breaking', 'breaking'],
  ['an enum in place of a number', message('int32 a = 1;'), message('E a = 1;'), 'breaking', 'breaking'],
  [
    'the message of a field',
    message('N a = 1;'),
    { message: 'O a = 1;', rest: 'message O {}' },
    'breaking',
    'breaking',
  ],
  ['a list', message('int32 a = 1;'), message('repeated int32 a = 1;'), 'breaking', 'breaking'],
  ['a list of messages', message('N a = 1;'), message('repeated N a = 1;'), 'breaking', 'breaking'],
  ['presence of a field', message('int32 a = 1;'), message('optional int32 a = 1;'), 'dangerous', 'dangerous'],
  ['a required field', old('optional int32 a = 1;'), old('required int32 a = 1;'), 'breaking', 'breaking'],
  [
    'a further required field',
    old('optional int32 a = 1;'),
    old('optional int32 a = 1; required int32 b = 2;'),
    'breaking',
    'breaking',
  ],
  [
    'a group',
    old('optional group G = 1 { optional int32 a = 1; }'),
    { head: PROTO_2, message: 'optional G g = 1;', rest: 'message G { optional int32 a = 1; }' },
    'breaking',
    'breaking',
  ],
  [
    'the default of a field',
    old('optional int32 a = 1;'),
    old('optional int32 a = 1 [default = 5];'),
    'breaking',
    'breaking',
  ],
  [
    'another default of a field',
    old('optional int32 a = 1 [default = 4];'),
    old('optional int32 a = 1 [default = 5];'),
    'breaking',
    'breaking',
  ],
  [
    'the JSON name of a field',
    message('int32 a = 1;'),
    message('int32 a = 1 [json_name = "b"];'),
    'breaking',
    'breaking',
  ],
  [
    'packing of a list',
    message('repeated int32 a = 1;'),
    message('repeated int32 a = 1 [packed = false];'),
    'info',
    'info',
  ],
  [
    'the JavaScript type of a field',
    message('int64 a = 1;'),
    message('int64 a = 1 [jstype = JS_STRING];'),
    'dangerous',
    'dangerous',
  ],
  [
    'the C++ type of a field',
    message('string a = 1;'),
    message('string a = 1 [ctype = CORD];'),
    'dangerous',
    'dangerous',
  ],
  ['the deprecation of a field', message('int32 a = 1;'), message('int32 a = 1 [deprecated = true];'), 'info', 'none'],
  ['a lazy field', message('N a = 1;'), message('N a = 1 [lazy = true];'), 'info', 'info'],
  ['redaction of a field', message('int32 a = 1;'), message('int32 a = 1 [debug_redact = true];'), 'info', 'info'],
  [
    'an option of a field that is not known',
    message('int32 a = 1;'),
    message('int32 a = 1 [(x.y) = 3];'),
    'info',
    'info',
  ],
  ['the comment of a field', message('int32 a = 1;'), message('/* text */ int32 a = 1;'), 'none', 'none'],

  ['a map', message('map<string, int32> a = 1;'), message('N a = 1;'), 'breaking', 'breaking'],
  [
    'the key of a map',
    message('map<string, int32> a = 1;'),
    message('map<int32, int32> a = 1;'),
    'breaking',
    'breaking',
  ],
  [
    'the value of a map',
    message('map<string, int32> a = 1;'),
    message('map<string, string> a = 1;'),
    'breaking',
    'breaking',
  ],
  [
    'a map in place of its entries',
    { message: 'repeated A a = 1; message A { string key = 1; int32 value = 2; }' },
    message('map<string, int32> a = 1;'),
    'breaking',
    'breaking',
  ],

  ['a oneof', message('int32 a = 1;'), message('int32 a = 1; oneof o { int32 b = 2; }'), 'info', 'breaking'],
  [
    'a field of a oneof',
    message('oneof o { int32 a = 1; }'),
    message('oneof o { int32 a = 1; int32 b = 2; }'),
    'info',
    'breaking',
  ],
  [
    'a field that moves into a oneof of its own',
    message('int32 a = 1; int32 b = 2;'),
    message('oneof o { int32 a = 1; } int32 b = 2;'),
    'dangerous',
    'dangerous',
  ],
  [
    'an optional field that moves into a oneof of its own, next to a new field',
    message('optional int32 a = 1;'),
    message('oneof o { int32 a = 1; int32 b = 2; }'),
    'dangerous',
    'breaking',
  ],
  [
    'a field that moves into a oneof with others',
    message('int32 a = 1; oneof o { int32 b = 2; }'),
    message('oneof o { int32 a = 1; int32 b = 2; }'),
    'breaking',
    'breaking',
  ],
  [
    'fields that move into one oneof',
    message('int32 a = 1; int32 b = 2;'),
    message('oneof o { int32 a = 1; int32 b = 2; }'),
    'breaking',
    'breaking',
  ],
  [
    'the oneof of a field',
    message('oneof o { int32 a = 1; int32 b = 2; } oneof q { int32 c = 3; }'),
    message('oneof o { int32 a = 1; } oneof q { int32 b = 2; int32 c = 3; }'),
    'breaking',
    'breaking',
  ],
  [
    'the name of a oneof',
    message('oneof o { int32 a = 1; }'),
    message('oneof q { int32 a = 1; }'),
    'dangerous',
    'dangerous',
  ],
  [
    'validation of a oneof',
    message('oneof o { int32 a = 1; }'),
    message('oneof o { option (buf.validate.oneof).required = true; int32 a = 1; }'),
    'breaking',
    'info',
  ],
  [
    'a oneof that must be given',
    message('int32 a = 1;'),
    message('int32 a = 1; oneof o { option (buf.validate.oneof).required = true; int32 b = 2; }'),
    'breaking',
    'breaking',
  ],
  [
    'a field that must be given by its options',
    {},
    message('int32 a = 1; int32 b = 2 [(google.api.field_behavior) = REQUIRED];'),
    'breaking',
    'breaking',
  ],
  [
    'a field with validation of its empty value',
    {},
    message('int32 a = 1; string b = 2 [(buf.validate.field).string.min_len = 1];'),
    'breaking',
    'breaking',
  ],
  [
    'a field with validation that may refuse its empty value',
    {},
    message('int32 a = 1; string b = 2 [(buf.validate.field).string.pattern = "^x*$"];'),
    'dangerous',
    'breaking',
  ],
  [
    'a field with validation that takes its empty value',
    {},
    message('int32 a = 1; string b = 2 [(buf.validate.field).string.max_len = 9];'),
    'info',
    'breaking',
  ],
  [
    'a field with validation of given values',
    {},
    message('int32 a = 1; optional string b = 2 [(buf.validate.field).string.min_len = 1];'),
    'info',
    'breaking',
  ],
  [
    'a field with validation that ignores the empty value',
    {},
    message(
      'int32 a = 1; string b = 2 [(buf.validate.field) = { ignore: IGNORE_IF_ZERO_VALUE string: { min_len: 1 } }];',
    ),
    'info',
    'breaking',
  ],
  [
    'a field that callers do not send',
    {},
    message('int32 a = 1; int32 b = 2 [(google.api.field_behavior) = OUTPUT_ONLY];'),
    'info',
    'breaking',
  ],
  [
    'behavior of a field that is only in responses',
    { service: 'rpc Get(N) returns (M);' },
    { service: 'rpc Get(N) returns (M);', ...message('int32 a = 1 [(google.api.field_behavior) = REQUIRED];') },
    'info',
    'dangerous',
  ],
  [
    'input only of a field that is in responses',
    { service: 'rpc Get(N) returns (M);' },
    { service: 'rpc Get(N) returns (M);', ...message('int32 a = 1 [(google.api.field_behavior) = INPUT_ONLY];') },
    'breaking',
    'dangerous',
  ],
  [
    'the order of behaviors',
    message('int32 a = 1 [(google.api.field_behavior) = REQUIRED, (google.api.field_behavior) = IMMUTABLE];'),
    message('int32 a = 1 [(google.api.field_behavior) = IMMUTABLE, (.google.api.field_behavior) = REQUIRED];'),
    'none',
    'none',
  ],
  [
    'an option that is written member by member',
    message('string a = 1 [(buf.validate.field).string.min_len = 1, (buf.validate.field).string.max_len = 9];'),
    message('string a = 1 [(buf.validate.field) = { string: { max_len: 9 min_len: 1 } }];'),
    'none',
    'none',
  ],

  ['a reserved number', message('int32 a = 1;'), message('int32 a = 1; reserved 5;'), 'none', 'breaking'],
  [
    'a reserved range',
    message('int32 a = 1; reserved 5 to 9;'),
    message('int32 a = 1; reserved 5 to 7;'),
    'breaking',
    'none',
  ],
  ['a reserved name', message('int32 a = 1;'), message('int32 a = 1; reserved "b";'), 'none', 'breaking'],
  [
    'an extension range',
    old('optional int32 a = 1;'),
    old('optional int32 a = 1; extensions 100 to 199;'),
    'none',
    'dangerous',
  ],
  ['the end of an extension range', old('extensions 100 to 199;'), old('extensions 100 to 149;'), 'dangerous', 'none'],
  [
    'the verification of an extension range',
    old('extensions 100 to 199;'),
    old('extensions 100 to 199 [verification = DECLARATION];'),
    'dangerous',
    'none',
  ],
  [
    'a declaration of an extension',
    old('extensions 100 to 199 [verification = DECLARATION];'),
    old(DECLARED('full_name: ".p.e" type: "int32"')),
    'none',
    'dangerous',
  ],
  [
    'the type of a declared extension',
    old(DECLARED('full_name: ".p.e" type: "int32"')),
    old(DECLARED('full_name: ".p.e" type: "string"')),
    'dangerous',
    'dangerous',
  ],
  [
    'a declaration that is reserved',
    old(DECLARED('full_name: ".p.e" type: "int32"')),
    old(DECLARED('full_name: ".p.e" type: "int32" reserved: true')),
    'dangerous',
    'none',
  ],
  [
    'an extension',
    { head: PROTO_2, message: 'extensions 100 to 199;' },
    { head: PROTO_2, message: 'extensions 100 to 199;', rest: 'extend M { optional int32 x = 100; }' },
    'info',
    'dangerous',
  ],
  [
    'the type of an extension',
    { head: PROTO_2, message: 'extensions 100 to 199;', rest: 'extend M { optional int32 x = 100; }' },
    { head: PROTO_2, message: 'extensions 100 to 199;', rest: 'extend M { optional string x = 100; }' },
    'breaking',
    'breaking',
  ],
  [
    'the wire format of a message',
    old('optional int32 a = 1;'),
    old('option message_set_wire_format = true; extensions 4 to max;'),
    'breaking',
    'breaking',
  ],
  ...FIELD_OPTIONS.map(([text, forth, back]): ElementRow<Parts> => [
    `the field option ${text}`,
    {},
    message(`int32 a = 1 [${text}];`),
    forth,
    back,
  ]),
  ...SERVICE_OPTIONS.map(([text, forth, back]): ElementRow<Parts> => [
    `the service option ${text}`,
    {},
    rpc(`option ${text}; rpc Get(M) returns (N);`),
    forth,
    back,
  ]),
  ['the deprecation of a message', {}, message('option deprecated = true; int32 a = 1;'), 'info', 'none'],

  ['a value of an enum', {}, { enumeration: 'ZERO = 0; ONE = 1; TWO = 2;' }, 'info', 'breaking'],
  [
    'a value of a closed enum',
    old('optional E e = 1;'),
    { ...old('optional E e = 1;'), enumeration: 'ZERO = 0; ONE = 1; TWO = 2;' },
    'dangerous',
    'breaking',
  ],
  ['the order of values', {}, { enumeration: 'ZERO = 0; TWO = 2; ONE = 1;' }, 'info', 'breaking'],
  ['the number of a value', {}, { enumeration: 'ZERO = 0; ONE = 2;' }, 'breaking', 'breaking'],
  ['the name of a value', {}, { enumeration: 'ZERO = 0; UNO = 1;' }, 'breaking', 'breaking'],
  [
    'the first value, which is the default',
    { ...old('optional E e = 1;'), enumeration: 'ZERO = 0; ONE = 1;' },
    { ...old('optional E e = 1;'), enumeration: 'ONE = 1; ZERO = 0;' },
    'breaking',
    'breaking',
  ],
  [
    'an alias of a value',
    {},
    { enumeration: 'option allow_alias = true; ZERO = 0; ONE = 1; UNO = 1;' },
    'none',
    'breaking',
  ],
  [
    'a new first alias of a value, by which JSON writes it',
    {},
    { enumeration: 'option allow_alias = true; ZERO = 0; UNO = 1; ONE = 1;' },
    'breaking',
    'breaking',
  ],
  [
    'the order of aliases',
    { enumeration: 'option allow_alias = true; ZERO = 0; UNO = 1; ONE = 1;' },
    { enumeration: 'option allow_alias = true; ZERO = 0; ONE = 1; UNO = 1;' },
    'dangerous',
    'dangerous',
  ],
  ['a reserved number of an enum', {}, { enumeration: 'ZERO = 0; ONE = 1; reserved 5;' }, 'none', 'breaking'],
  ['a reserved name of an enum', {}, { enumeration: 'ZERO = 0; ONE = 1; reserved "TWO";' }, 'none', 'breaking'],
  ['the deprecation of a value', {}, { enumeration: 'ZERO = 0; ONE = 1 [deprecated = true];' }, 'info', 'none'],
  ['an option of a value', {}, { enumeration: 'ZERO = 0; ONE = 1 [(x.y) = 3];' }, 'info', 'info'],

  ['an rpc', {}, rpc('rpc Get(M) returns (N); rpc Put(M) returns (N);'), 'info', 'breaking'],
  ['the name of an rpc', {}, rpc('rpc Fetch(M) returns (N);'), 'breaking', 'breaking'],
  [
    'the spelling of an rpc',
    rpc('rpc get_it(M) returns (N);'),
    rpc('rpc GetIt(M) returns (N);'),
    'breaking',
    'breaking',
  ],
  ['the request of an rpc', {}, rpc('rpc Get(N) returns (N);'), 'breaking', 'breaking'],
  ['the answer of an rpc', {}, rpc('rpc Get(M) returns (M);'), 'breaking', 'breaking'],
  ['a stream of requests', {}, rpc('rpc Get(stream M) returns (N);'), 'breaking', 'breaking'],
  ['a stream of answers', {}, rpc('rpc Get(M) returns (stream N);'), 'breaking', 'breaking'],
  [
    'the idempotence of an rpc',
    {},
    rpc('rpc Get(M) returns (N) { option idempotency_level = NO_SIDE_EFFECTS; }'),
    'breaking',
    'breaking',
  ],
  ['the deprecation of an rpc', {}, rpc('rpc Get(M) returns (N) { option deprecated = true; }'), 'info', 'none'],
  ['the deprecation of a service', {}, rpc('option deprecated = true; rpc Get(M) returns (N);'), 'info', 'none'],
  ['an option of an rpc', {}, rpc('rpc Get(M) returns (N) { option (x.y) = 3; }'), 'info', 'info'],

  [
    'a binding of an rpc',
    { ...http(''), service: 'rpc Get(M) returns (N);' },
    http('get: "/v1/a"'),
    'info',
    'breaking',
  ],
  ['the path of a binding', http('get: "/v1/a"'), http('get: "/v1/b"'), 'breaking', 'breaking'],
  ['the verb of a binding', http('get: "/v1/a"'), http('post: "/v1/a"'), 'breaking', 'breaking'],
  ['the body of a binding', http('post: "/v1/a"'), http('post: "/v1/a" body: "*"'), 'breaking', 'breaking'],
  ['the body of the answer', http('get: "/v1/a"'), http('get: "/v1/a" response_body: "b"'), 'breaking', 'breaking'],
  [
    'a further binding',
    http('get: "/v1/a"'),
    http('get: "/v1/a" additional_bindings { get: "/v1/b" }'),
    'info',
    'breaking',
  ],
  [
    'a verb of its own',
    http('custom { kind: "HEAD" path: "/v1/a" }'),
    http('custom { kind: "TRACE" path: "/v1/a" }'),
    'breaking',
    'breaking',
  ],

  ['the package', {}, { head: 'syntax = "proto3"; package q;' }, 'breaking', 'breaking'],
  ['the syntax', old('optional int32 a = 1;'), message('optional int32 a = 1;'), 'dangerous', 'breaking'],
  [
    'the edition',
    edition('int32 a = 1;'),
    { head: 'edition = "2024"; package p;', message: 'int32 a = 1;' },
    // The defaults of generated code: Java, Go and C++.
    'dangerous',
    'dangerous',
  ],
  ...FILE_OPTIONS.map(([text, forth, back]): ElementRow<Parts> => [
    `the option ${text} of a file`,
    {},
    option(`option ${text};`),
    forth,
    back,
  ]),
  ...FEATURES.map(([text, forth, back]): ElementRow<Parts> => [
    `${text} of a file`,
    edition(KINDS),
    edition(KINDS, `option ${text};`),
    forth,
    back,
  ]),
  [
    'the presence of a field of an edition',
    edition('int32 a = 1;'),
    edition('int32 a = 1 [features.field_presence = LEGACY_REQUIRED];'),
    'breaking',
    'breaking',
  ],
  [
    'the encoding of a message of an edition',
    edition('N a = 1;'),
    edition('N a = 1 [features.message_encoding = DELIMITED];'),
    'breaking',
    'breaking',
  ],
  ['an import', {}, { imports: 'import "google/protobuf/empty.proto";' }, 'none', 'none'],
]

checkElements('an element of protobuf', 'protobuf', ELEMENTS, file)

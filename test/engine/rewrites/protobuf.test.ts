/** Protobuf files written in two ways that mean the same: order, comments, names, files, options at their defaults, editions. */
import { checkRewrites, type Rewrite, type Written } from './run.ts'

const written = (document: string, files: Readonly<Record<string, string>> = {}): Written => ({ document, files })
const PROTO_3 = 'syntax = "proto3"; package p;'
const PROTO_2 = 'syntax = "proto2"; package p;'
const three = (text: string): Written => written(`${PROTO_3} ${text}`)
const two = (text: string): Written => written(`${PROTO_2} ${text}`)
const edition = (text: string, features = ''): Written => written(`edition = "2023"; package p; ${features} ${text}`)

const M = 'message M { int32 a = 1; N n = 2; }'
const N = 'message N { string b = 1; }'
const S = 'service S { rpc Get(M) returns (stream N); }'
const HTTP = 'import "google/api/annotations.proto";'
const http = (option: string): Written => three(`${HTTP} ${M} ${N} service S { rpc Get(M) returns (N) { ${option} } }`)

const google = (text: string): Written => written(`syntax = "proto3"; package google.p; ${text}`)
const validated = (options: string): Written => three(`message M { string a = 1 [${options}]; }`)

const REWRITES: readonly Rewrite[] = [
  [
    'a relative name of an option',
    google(`${M} ${N} service S { rpc Get(M) returns (N) { option (google.api.http) = { get: "/a" }; } }`),
    google(`${M} ${N} service S { rpc Get(M) returns (N) { option (api.http) = { get: "/a" }; } }`),
  ],
  [
    'the values of a validation in another order',
    validated('(buf.validate.field).string = { in: ["a", "b"] }'),
    validated('(buf.validate.field).string.in = "b", (buf.validate.field).string.in = "a"'),
  ],
  [
    'validation that is switched off',
    validated('deprecated = false'),
    validated(
      '(buf.validate.field).required = false, (buf.validate.field).string.min_len = 0, (validate.rules).string.email = false',
    ),
  ],
  [
    'a default in bytes of UTF-8',
    two('message M { optional string a = 1 [default = "\u00e9\u20ac"]; }'),
    two('message M { optional string a = 1 [default = "\\303\\251\\xe2\\x82\\xac"]; }'),
  ],
  ['definitions in another order', three(`${M} ${N} ${S}`), three(`${S} ${N} ${M}`)],
  [
    'fields in another order',
    three('message M { int32 a = 1; int32 b = 2; }'),
    three('message M { int32 b = 2; int32 a = 1; }'),
  ],
  ['comments', three(`${M} ${N}`), three(`// c\n/* ${M} */ ${M} /* d */ ${N} // ${S}`)],
  ['empty statements', three(`${M} ${N}`), three(`; ${M}; ;${N};`)],
  [
    'whole names',
    three(`${M} ${N} ${S}`),
    three(
      'message M { int32 a = 1; .p.N n = 2; } message N { string b = 1; } service S { rpc Get(.p.M) returns (stream p.N); }',
    ),
  ],
  [
    'a semicolon and an empty body of a method',
    three(`${M} ${N} ${S}`),
    three(`${M} ${N} service S { rpc Get(M) returns (stream N) {} }`),
  ],
  [
    'JSON names written out',
    three('message M { int32 a_b = 1; }'),
    three('message M { int32 a_b = 1 [json_name = "aB"]; }'),
  ],
  [
    'numbers in another base',
    three('message M { int32 a = 16; reserved 20, 22 to 30; }'),
    three('message M { int32 a = 0x10; reserved 0x14, 026 to 30; }'),
  ],
  [
    'reserved numbers in one list, and in two',
    three('message M { reserved 1, 2, 3; reserved "a", "b"; }'),
    three('message M { reserved 1 to 3; reserved "a"; reserved "b"; }'),
  ],
  [
    'packed in proto3',
    three('message M { repeated int32 a = 1; }'),
    three('message M { repeated int32 a = 1 [packed = true]; }'),
  ],
  [
    'packed in proto2',
    two('message M { repeated int32 a = 1; }'),
    two('message M { repeated int32 a = 1 [packed = false]; }'),
  ],
  [
    'options at their defaults',
    three(`${M} ${N}`),
    three(
      'option deprecated = false; option cc_enable_arenas = true; message M { option deprecated = false; int32 a = 1 [deprecated = false, lazy = false]; N n = 2; } message N { string b = 1; }',
    ),
  ],
  [
    'a default of zero in proto2',
    two('message M { optional int32 a = 1; }'),
    two('message M { optional int32 a = 1 [default = 0]; }'),
  ],
  [
    'a default of the first value in proto2',
    two('enum E { A = 1; B = 2; } message M { optional E e = 1; }'),
    two('enum E { A = 1; B = 2; } message M { optional E e = 1 [default = A]; }'),
  ],
  [
    'a string in parts',
    two('message M { optional string a = 1 [default = "ab"]; }'),
    two(`message M { optional string a = 1 [default = "a" 'b']; }`),
  ],
  [
    'a map and its entries',
    three('message M { map<string, int32> a = 1; }'),
    three('message M { map < string , int32 > a = 1; }'),
  ],
  [
    'a message in another file',
    written(`${PROTO_3} ${M} ${N}`, { 'x.proto': `${PROTO_3} message X {}` }),
    written(`${PROTO_3} import "n.proto"; ${M}`, {
      'n.proto': `${PROTO_3} ${N}`,
      'x.proto': `${PROTO_3} message X {}`,
    }),
    ['proto-message-left-file', 'proto-file-removed'],
  ],
  [
    'a message behind a public import',
    written(`${PROTO_3} import "n.proto"; ${M}`, { 'n.proto': `${PROTO_3} ${N}` }),
    written(`${PROTO_3} import "m.proto"; ${M}`, {
      'm.proto': `${PROTO_3} import public "n.proto";`,
      'n.proto': `${PROTO_3} ${N}`,
    }),
    ['proto-file-removed'],
  ],
  [
    'another name of an imported file',
    written(`${PROTO_3} import "n.proto"; ${M}`, { 'n.proto': `${PROTO_3} ${N}` }),
    written(`${PROTO_3} import "sub/n.proto"; ${M}`, { 'sub/n.proto': `${PROTO_3} ${N}` }),
    ['proto-file-removed'],
  ],
  [
    'imports in another order',
    written(`${PROTO_3} import "n.proto"; import "o.proto"; ${M}`, {
      'n.proto': `${PROTO_3} ${N}`,
      'o.proto': `${PROTO_3} message O {}`,
    }),
    written(`${PROTO_3} import "o.proto"; import "n.proto"; ${M}`, {
      'n.proto': `${PROTO_3} ${N}`,
      'o.proto': `${PROTO_3} message O {}`,
    }),
  ],
  ['an import that is not used', three(M + N), three(`import "google/protobuf/empty.proto"; ${M} ${N}`)],
  [
    'proto3 and an edition',
    three(
      'enum E { Z = 0; } message M { int32 a = 1; optional int32 o = 2; repeated int32 r = 3; E e = 4; string s = 5; N n = 6; oneof u { int32 x = 7; } map<string, N> m = 8; } message N {}',
    ),
    edition(
      'enum E { Z = 0; } message M { int32 a = 1; int32 o = 2 [features.field_presence = EXPLICIT]; repeated int32 r = 3; E e = 4; string s = 5; N n = 6; oneof u { int32 x = 7; } map<string, N> m = 8; } message N {}',
      'option features.field_presence = IMPLICIT;',
    ),
  ],
  [
    'proto2 and an edition',
    two(
      'enum E { Z = 1; } message M { required int32 a = 1; optional int32 o = 2 [default = 3]; repeated int32 r = 3; optional E e = 4; optional string s = 5; optional group G = 6 { optional int32 x = 1; } extensions 100 to 200; }',
    ),
    edition(
      'enum E { Z = 1; } message M { int32 a = 1 [features.field_presence = LEGACY_REQUIRED]; int32 o = 2 [default = 3]; repeated int32 r = 3; E e = 4; string s = 5; message G { int32 x = 1; } G g = 6 [features.message_encoding = DELIMITED]; extensions 100 to 200; }',
      'option features.enum_type = CLOSED; option features.repeated_field_encoding = EXPANDED; option features.utf8_validation = NONE; option features.json_format = LEGACY_BEST_EFFORT;',
    ),
  ],
  [
    'features of a file, and of each field',
    edition('message M { int32 a = 1; int32 b = 2; }', 'option features.field_presence = IMPLICIT;'),
    edition(
      'message M { int32 a = 1 [features.field_presence = IMPLICIT]; int32 b = 2 [features = { field_presence: IMPLICIT }]; }',
    ),
  ],
  [
    'features at their defaults',
    edition('message M { repeated int32 a = 1; }'),
    edition(
      'message M { repeated int32 a = 1 [features.repeated_field_encoding = PACKED]; }',
      'option features.enum_type = OPEN;',
    ),
  ],
  [
    'editions 2023 and 2024',
    edition('message M { int32 a = 1; }'),
    written(
      'edition = "2024"; package p; option features.(pb.go).api_level = API_OPEN; option features.(pb.java) = { nest_in_file_class: YES, use_old_outer_classname_default: true }; option features.(pb.cpp).enum_name_uses_string_view = false; message M { int32 a = 1; }',
    ),
  ],
  [
    'extensions in one range, and in two',
    two('message M { extensions 100 to 200; }'),
    two('message M { extensions 100 to 150, 151 to 200; }'),
  ],
  [
    'an extension in its file, and within a message',
    two('message M { extensions 100 to max; } extend M { optional int32 e = 100; }'),
    two('message M { extensions 100 to 536870911; } extend .p.M { optional int32 e = 100; }'),
  ],
  [
    'an HTTP binding as members and as a message',
    http('option (google.api.http) = { post: "/a" body: "*" };'),
    http('option (google.api.http).post = "/a"; option (google.api.http).body = "*";'),
  ],
  [
    'a separator within an option',
    http('option (google.api.http) = { post: "/a" body: "*" };'),
    http('option (.google.api.http) = { post: "/a", body: "*"; };'),
  ],
  [
    'bindings in another order',
    http(
      'option (google.api.http) = { get: "/a" additional_bindings { get: "/b" } additional_bindings { get: "/c" } };',
    ),
    http('option (google.api.http) = { get: "/c" additional_bindings: [ { get: "/b" }, { get: "/a" } ] };'),
  ],
  [
    'a path parameter and its default form',
    http('option (google.api.http) = { get: "/a/{a}" };'),
    http('option (google.api.http) = { get: "/a/{a=*}" };'),
  ],
]

checkRewrites('protobuf', 'protobuf', REWRITES)

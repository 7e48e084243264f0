/**
 * Reads the parts of an SDL document into schema elements: types with their fields, values and members, and directive
 * definitions.
 */
import type {
  DirectiveDefinitionNode,
  DirectiveExtensionNode,
  EnumValueDefinitionNode,
  FieldDefinitionNode,
  InputValueDefinitionNode,
  NamedTypeNode,
  NameNode,
  TypeDefinitionNode,
  TypeExtensionNode,
  TypeNode,
} from 'graphql/language'
import type { Faults } from './faults.ts'
import { isOfEachField } from './federation.ts'
import { literalOf } from './literals.ts'
import type {
  Deprecable,
  DirectiveDefinition,
  DirectiveUsage,
  Element,
  Field,
  InputValue,
  NamedType,
  NamedReference,
  TypeKind,
} from './schema.ts'
import { readApplied, type Imports } from './usages.ts'

/** The definition of a type or one of its extensions. */
export type TypePart = TypeDefinitionNode | TypeExtensionNode

export class SdlElements {
  readonly #imports: Imports
  readonly #faults: Faults

  constructor(imports: Imports, faults: Faults) {
    this.#imports = imports
    this.#faults = faults
  }

  /** A type made of all its parts, the definition first. */
  type(name: string, kind: TypeKind, parts: readonly TypePart[]): NamedType {
    const [leading] = parts
    const applied = parts.map(({ directives }) => readApplied(directives, this.#imports))
    const hasOutputs = kind === 'object' || kind === 'interface'
    const usages = applied.flatMap((part) => part.usages)
    const element: Element = {
      name,
      mark: startOffset(leading?.name ?? {}),
      description: leading !== undefined && 'description' in leading ? (leading.description?.value ?? null) : null,
      usages: hasOutputs ? usages.filter((usage) => !isOfEachField(usage.name)) : usages,
    }
    if (kind === 'scalar') {
      const stated = applied.find(({ specifiedBy }) => specifiedBy !== null)
      return { ...element, kind, specifiedBy: stated?.specifiedBy ?? null }
    }
    if (kind === 'union')
      return { ...element, kind, members: this.#references(`the union ${name}`, unionMembersOf(parts)) }
    if (kind === 'enum') {
      return { ...element, kind, values: this.#byName(name, enumValuesOf(parts), (value) => this.#deprecable(value)) }
    }
    if (kind === 'input') {
      const fields = this.#byName(name, inputFieldsOf(parts), (field) => this.#input(field))
      return { ...element, kind, fields, isOneOf: applied.some(({ isOneOf }) => isOneOf) }
    }
    const shared = new Map(
      parts.flatMap((part, index) => {
        const ofFields = applied[index]?.usages.filter((usage) => isOfEachField(usage.name)) ?? []
        return outputFieldsOf([part]).map((field) => [field, ofFields] as const)
      }),
    )
    const fields = this.#byName(name, outputFieldsOf(parts), (field) => this.#field(name, field, shared.get(field)))
    return { ...element, kind, fields, interfaces: this.#references(name, interfacesOf(parts)) }
  }

  directive(definition: DirectiveDefinitionNode, extensions: readonly DirectiveExtensionNode[]): DirectiveDefinition {
    const name = definition.name.value
    const applied = [definition, ...extensions].map(({ directives }) => readApplied(directives, this.#imports))
    const locations = definition.locations.map((node): [string, NamedReference] => [
      node.value,
      { name: node.value, mark: startOffset(node) },
    ])
    return {
      name,
      mark: startOffset(definition.name),
      description: definition.description?.value ?? null,
      usages: applied.flatMap(({ usages }) => usages),
      deprecation: applied.find(({ deprecation }) => deprecation !== null)?.deprecation ?? null,
      arguments: this.#byName(`@${name}`, definition.arguments ?? [], (argument) => this.#input(argument)),
      locations: new Map(locations),
      isRepeatable: definition.repeatable,
    }
  }

  #deprecable(node: EnumValueDefinitionNode | FieldDefinitionNode | InputValueDefinitionNode): Deprecable {
    const { usages, deprecation } = readApplied(node.directives, this.#imports)
    const description = node.description?.value ?? null
    return { name: node.name.value, mark: startOffset(node.name), description, usages, deprecation }
  }

  #input(node: InputValueDefinitionNode): InputValue {
    const defaultValue = node.defaultValue === undefined ? null : literalOf(node.defaultValue)
    return { ...this.#deprecable(node), type: typeText(node.type), defaultValue }
  }

  /** `shared` are directives of the type that apply to each field of its part. */
  #field(type: string, node: FieldDefinitionNode, shared: readonly DirectiveUsage[] = []): Field {
    const owner = `${type}.${node.name.value}`
    const element = this.#deprecable(node)
    const own = new Set(element.usages.map((usage) => usage.name))
    return {
      ...element,
      usages: [...element.usages, ...shared.filter((usage) => !own.has(usage.name))],
      type: typeText(node.type),
      arguments: this.#byName(owner, node.arguments ?? [], (argument) => this.#input(argument)),
    }
  }

  #byName<N extends { readonly name: NameNode }, T>(
    owner: string,
    nodes: readonly N[],
    read: (node: N) => T,
  ): ReadonlyMap<string, T> {
    const items = new Map<string, T>()
    const places = new Map<string, number>()
    for (const node of nodes) {
      const name = node.name.value
      const [place, first] = [startOffset(node.name), places.get(name)]
      if (first !== undefined) this.#faults.reportDuplicate(`${name} of ${owner}`, place, first)
      else places.set(name, place)
      items.set(name, read(node))
    }
    return items
  }

  #references(owner: string, nodes: readonly NamedTypeNode[]): ReadonlyMap<string, NamedReference> {
    return this.#byName(owner, nodes, (node) => ({ name: node.name.value, mark: startOffset(node) }))
  }
}

export function startOffset(node: { readonly loc?: { readonly start: number } | undefined }): number {
  return node.loc?.start ?? 0
}

function typeText(node: TypeNode): string {
  if (node.kind === 'NamedType') return node.name.value
  return node.kind === 'ListType' ? `[${typeText(node.type)}]` : `${typeText(node.type)}!`
}

function unionMembersOf(parts: readonly TypePart[]): readonly NamedTypeNode[] {
  return parts.flatMap((part) => ('types' in part ? (part.types ?? []) : []))
}

function interfacesOf(parts: readonly TypePart[]): readonly NamedTypeNode[] {
  return parts.flatMap((part) => ('interfaces' in part ? (part.interfaces ?? []) : []))
}

function enumValuesOf(parts: readonly TypePart[]): readonly EnumValueDefinitionNode[] {
  return parts.flatMap((part) => ('values' in part ? (part.values ?? []) : []))
}

function outputFieldsOf(parts: readonly TypePart[]): readonly FieldDefinitionNode[] {
  return parts.flatMap((part) => ('interfaces' in part ? (part.fields ?? []) : []))
}

function inputFieldsOf(parts: readonly TypePart[]): readonly InputValueDefinitionNode[] {
  return parts.flatMap((part) =>
    part.kind === 'InputObjectTypeDefinition' || part.kind === 'InputObjectTypeExtension' ? (part.fields ?? []) : [],
  )
}

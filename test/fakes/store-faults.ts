/** A store whose named methods are others: those that a test lets fail, or watches. */
import type { Aggregates, Store } from '../../gateway/store/store.ts'

export type StoreFaults = { readonly [Name in keyof Aggregates]?: Partial<Aggregates[Name]> } & {
  readonly probe?: Store['probe']
}

export function withFaults(store: Store, faults: StoreFaults = {}): Store {
  const { probe = () => store.probe(), ...aggregates } = faults
  const replaced = Object.entries(aggregates).map(([name, methods]) => [
    name,
    Object.assign(Object.create(Reflect.get(store, name)), methods),
  ])
  return Object.assign(Object.create(store), { probe }, Object.fromEntries(replaced))
}

import { useSyncExternalStore } from "react";

/** A value of the whole page, which components read with `use`. The server renders its initial value. */
export function createStore<Value>(initial: Value) {
  let value = initial;
  const listeners = new Set<() => void>();
  const subscribe = (onChange: () => void) => {
    listeners.add(onChange);
    return () => void listeners.delete(onChange);
  };
  const get = () => value;
  return {
    set: (next: Value) => {
      value = next;
      for (const notify of listeners) notify();
    },
    use: () => useSyncExternalStore(subscribe, get, () => initial),
  };
}

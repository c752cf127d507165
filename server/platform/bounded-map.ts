/** Sets an entry of a bounded map: a full map drops its oldest entry. */
export function setBounded<T>(map: Map<string, T>, key: string, value: T, entriesMax: number): void {
  // A Map iterates in insertion order.
  map.delete(key);
  const [oldest] = map.keys();
  if (map.size >= entriesMax && oldest !== undefined) map.delete(oldest);
  map.set(key, value);
}

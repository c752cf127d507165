/** Reads or writes the storage of the browser. Null if the browser blocks it; pages then work without it. */
export function tryStorage<T>(access: () => T): T | null {
  try {
    return access();
  } catch {
    return null;
  }
}

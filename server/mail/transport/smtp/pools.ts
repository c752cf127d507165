/** What a pool keeps: connections to one destination, or the client of a relay. */
type Closable = { close(): void | Promise<void> };

type Entry<Client> = { client: Client; users: number; timer?: NodeJS.Timeout };

/**
 * Clients by key, such as the connections to a destination. An unused client is closed after `keepMs`. Choose
 * a value above the idle time of its connections.
 */
export function createPools<Client extends Closable>(keepMs: number) {
  const entries = new Map<string, Entry<Client>>();
  const closing = new Set<Promise<void>>();

  function closeEntry(key: string, entry: Entry<Client>): void {
    clearTimeout(entry.timer);
    if (entries.get(key) === entry) entries.delete(key);
    const closed = Promise.resolve(entry.client.close()).finally(() => closing.delete(closed));
    closing.add(closed);
  }

  return {
    /** Runs `use` with the client of this key; `create` makes it if necessary, and may throw. */
    async use<T>(key: string, create: () => Client, use: (client: Client) => Promise<T>): Promise<T> {
      const entry = entries.get(key) ?? { client: create(), users: 0 };
      entries.set(key, entry);
      clearTimeout(entry.timer);
      entry.users += 1;
      try {
        return await use(entry.client);
      } finally {
        entry.users -= 1;
        if (entry.users === 0) entry.timer = setTimeout(() => closeEntry(key, entry), keepMs).unref();
      }
    },
    /** Closes the client of this key. Its users finish; others get a new one. */
    discard(key: string): void {
      const entry = entries.get(key);
      if (entry) closeEntry(key, entry);
    },
    async close(): Promise<void> {
      for (const [key, entry] of entries) closeEntry(key, entry);
      await Promise.allSettled(closing);
    },
  };
}

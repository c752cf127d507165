import type { Pool } from "./pool";

/**
 * Connection pools by destination. An unused pool is closed after `keepMs`. Choose a value above the idle
 * time of its connections.
 */
export function createPools(keepMs: number) {
  const pools = new Map<string, { pool: Pool; users: number; timer?: NodeJS.Timeout }>();
  return {
    /** Runs `use` with the pool of this key; `create` makes it if necessary. */
    async use<T>(key: string, create: () => Pool, use: (pool: Pool) => Promise<T>): Promise<T> {
      const entry = pools.get(key) ?? { pool: create(), users: 0 };
      pools.set(key, entry);
      clearTimeout(entry.timer);
      entry.users += 1;
      try {
        return await use(entry.pool);
      } finally {
        entry.users -= 1;
        if (entry.users === 0)
          entry.timer = setTimeout(() => {
            pools.delete(key);
            entry.pool.close();
          }, keepMs).unref();
      }
    },
    close() {
      for (const { pool, timer } of pools.values()) {
        clearTimeout(timer);
        pool.close();
      }
      pools.clear();
    },
  };
}

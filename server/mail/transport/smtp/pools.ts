import type { Pool } from "./pool";

/** Connection pools by destination. A pool is closed some time after its last use. */
export type Pools = {
  /** Runs `use` with the pool of this key; `create` makes it if necessary. */
  use<T>(key: string, create: () => Pool, use: (pool: Pool) => Promise<T>): Promise<T>;
  close(): void;
};

/** Closes an unused pool after `keepMs`. Choose a value above the idle time of its connections. */
export function createPools(keepMs: number): Pools {
  const pools = new Map<string, { pool: Pool; users: number; timer?: NodeJS.Timeout }>();
  return {
    async use(key, create, use) {
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

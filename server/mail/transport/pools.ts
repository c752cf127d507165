import type { Pool } from "./pool";

/** Pools by destination, each for as long as somebody uses it or it may hold connections worth keeping. */
export type Pools = {
  /** Runs `use` with the pool of that key, made by `create` where there is none. */
  use<T>(key: string, create: () => Pool, use: (pool: Pool) => Promise<T>): Promise<T>;
  close(): void;
};

/** Keeps an unused pool for `keepMs`, which its idle connections need to end by themselves. */
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

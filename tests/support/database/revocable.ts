import type { Database, HotSql } from "#db/client";

/**
 * The same connections for one test. After `revoke`, statements that the test left behind are rejected as on
 * closed connections, and its listeners get no notifications.
 */
export function revocable({ db, hot }: Database): { database: Database; revoke(): Promise<void> } {
  let isRevoked = false;
  const listening: Promise<{ unlisten(): Promise<void> }>[] = [];
  const reject = () => {
    const fault = Promise.reject(
      Object.assign(new Error("The test has ended."), { code: "CONNECTION_ENDED" }),
    );
    fault.catch(() => {});
    return Object.assign(fault, { values: () => fault });
  };
  const guard = <T extends object>(given: T): T =>
    new Proxy(given, {
      apply: (target, self, args) =>
        isRevoked ? reject() : Reflect.apply(target as (...args: unknown[]) => unknown, self, args),
      get: (target, name) => {
        const value: unknown = Reflect.get(target, name);
        if (typeof value !== "function") return value;
        return (...args: unknown[]) => (isRevoked ? reject() : Reflect.apply(value, target, args));
      },
    });
  const guardedHot = guard(hot);
  const listen: HotSql["listen"] = (channel, onMessage, onStart) => {
    if (isRevoked) return reject() as unknown as ReturnType<HotSql["listen"]>;
    const started = hot.listen(
      channel,
      (text) => isRevoked || onMessage(text),
      () => isRevoked || onStart?.(),
    );
    listening.push(started);
    return started;
  };
  return {
    database: {
      db: guard(db),
      hot: new Proxy(guardedHot, {
        get: (target, name) => (name === "listen" ? listen : Reflect.get(target, name)),
      }),
      close: async () => {},
    },
    async revoke() {
      isRevoked = true;
      await Promise.all(
        listening.map(async (started) => (await started.catch(() => null))?.unlisten().catch(() => {})),
      );
    },
  };
}

import postgres, { type Sql } from "postgres";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createWorld, type World } from "../support/world";

const MAIL = {
  from: "ann@posthorn.test",
  to: "delivered@posthorn.test",
  subject: "Hello",
  html: "<p>Hello</p>",
};

let world: World;
let outsider: Sql;
let token: string;
beforeEach(async () => {
  // Two connections for each of the pools: nothing is easier than to use them up.
  world = await createWorld({ connectionsMax: 4 });
  outsider = postgres(world.databaseUrl, { max: 1, onnotice: () => {} });
  ({ token } = await world.key());
  await world.api("POST", "/api/emails", { token, body: MAIL });
});
afterEach(async () => {
  await outsider.end();
  await world.close();
});

/** Runs something while somebody else's transaction holds a whole table. */
function whileLocked<T>(table: string, run: () => Promise<T>): Promise<T> {
  return outsider.begin(async (tx) => {
    await tx.unsafe(`lock table ${table} in access exclusive mode`);
    return run();
  }) as Promise<T>;
}

const many = <T>(count: number, run: (n: number) => Promise<T>) =>
  Promise.all(Array.from({ length: count }, (_, n) => run(n)));

/** How often each status came, and whether all came in a time that nobody calls a hang: no lock was waited out. */
async function tally(run: () => Promise<{ status: number }[]>) {
  const startMs = performance.now();
  const statuses: Record<number, number> = {};
  for (const { status } of await run()) statuses[status] = (statuses[status] ?? 0) + 1;
  return { statuses, isPrompt: performance.now() - startMs < 8_000 };
}

describe("a request that cannot get at the database is refused, and does not hang", () => {
  test("where keys cannot be looked up", async () => {
    const keys = await many(5, () => world.key());
    const seen = await whileLocked("api_keys", () =>
      tally(() => many(50, (n) => world.api("GET", "/api/emails", { token: keys[n % 5]?.token ?? "" }))),
    );
    expect(seen).toEqual({ statuses: { 503: 50 }, isPrompt: true });
  });

  test("where reads stand behind others that do not end", async () => {
    let stuck: Promise<{ status: number }[]> | undefined;
    const seen = await whileLocked("emails", () =>
      tally(async () => {
        // Two that hold the pool's connections until the lock is given up, then those behind them.
        stuck = many(2, () => world.api("GET", "/api/emails", { token }));
        await expect.poll(lockWaits).toBe(2);
        return many(50, () => world.api("GET", "/api/emails", { token }));
      }),
    );
    expect(seen).toEqual({ statuses: { 503: 50 }, isPrompt: true });
    expect((await stuck)?.map(({ status }) => status)).toEqual([200, 200]);
  });

  test("where mail cannot be written, and what was refused is never written later", async () => {
    const before = (await world.rowCounts()).emails ?? 0;
    let stuck: Promise<{ status: number }> | undefined;
    const seen = await whileLocked("emails", () =>
      tally(async () => {
        stuck = world.api("POST", "/api/emails", { token, body: MAIL });
        await expect.poll(lockWaits).toBe(1);
        return many(50, () => world.api("POST", "/api/emails", { token, body: MAIL }));
      }),
    );
    expect(seen).toEqual({ statuses: { 503: 50 }, isPrompt: true });
    expect((await stuck)?.status).toBe(200);
    expect((await world.api("POST", "/api/emails", { token, body: MAIL })).status).toBe(200);
    expect((await world.rowCounts()).emails).toBe(before + 2);
  });

  test("and says so with what to do, the limit headers and when to come back", async () => {
    const { token: fresh } = await world.key();
    const reply = await whileLocked("api_keys", () => world.api("GET", "/api/emails", { token: fresh }));
    expect(reply.status).toBe(503);
    expect(reply.headers).toMatchObject({ "retry-after": "2", "x-ratelimit-limit": "60" });
    expect(reply.body).toMatchObject({ name: "application_error", statusCode: 503 });
    expect(reply.body.message).toMatch(/busy or away.*Try again.*Idempotency-Key/);
  });

  test("and everything works again once there is room", async () => {
    const posts = await whileLocked("emails", async () => {
      const begun = many(20, () => world.api("POST", "/api/emails", { token, body: MAIL }));
      await expect.poll(lockWaits).toBeGreaterThan(0);
      return { begun };
    });
    expect((await posts.begun).map(({ status }) => status)).toEqual(Array.from({ length: 20 }, () => 200));
    expect((await world.api("GET", "/api/emails", { token })).status).toBe(200);
  });
});

test("a database that comes back is used again at once, and every 200 in between was kept", async () => {
  const accepted: string[] = [];
  const refused = new Set<number>();
  const post = async () => {
    const { status, body } = await world.api("POST", "/api/emails", { token, body: MAIL });
    if (status === 200) accepted.push(String(body.id));
    else refused.add(status);
  };
  for (let round = 0; round < 5; round++) {
    const posts = many(20, post);
    await outsider`
      select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid()`;
    await posts;
    await expect
      .poll(async () => (await world.api("POST", "/api/emails", { token, body: MAIL })).status, {
        timeout: 30_000,
      })
      .toBe(200);
  }
  // A connection may have ended without the word of it being here yet: whoever reads by it is told to come again.
  const read = async (id: string) => {
    const { status } = await world.api("GET", `/api/emails/${id}`, { token });
    if (status !== 200) refused.add(status);
    return status;
  };
  for (const id of accepted) await expect.poll(() => read(id), { timeout: 30_000 }).toBe(200);
  expect([...refused].filter((status) => status !== 503)).toEqual([]);
});

async function lockWaits(): Promise<number> {
  const probe = postgres(world.databaseUrl, { max: 1, onnotice: () => {} });
  try {
    const [row] = await probe<{ n: number }[]>`
      select count(*)::int as n from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock'`;
    return row?.n ?? 0;
  } finally {
    await probe.end();
  }
}

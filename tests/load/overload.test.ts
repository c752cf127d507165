import postgres, { type Sql } from "postgres";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { forEachTest } from "../support/fixtures";
import { createWorld } from "../support/world";

const EMAIL = {
  from: "ann@backstamp.test",
  to: "delivered@backstamp.test",
  subject: "Hello",
  html: "<p>Hello</p>",
};

const world = forEachTest(() => createWorld({ connectionsMax: 4 }));
let outsider: Sql;
let token: string;
beforeEach(async () => {
  // Two connections per pool, which are easy to exhaust.
  outsider = postgres(world.databaseUrl, { max: 1, onnotice: () => {} });
  ({ token } = await world.key());
  await world.api("POST", "/api/emails", { token, body: EMAIL });
});
afterEach(() => outsider.end());

/** Runs a function while another transaction locks a whole table. */
function whileLocked<T>(table: string, run: () => Promise<T>): Promise<T> {
  return outsider.begin(async (tx) => {
    await tx.unsafe(`lock table ${table} in access exclusive mode`);
    return run();
  }) as Promise<T>;
}

const many = <T>(count: number, run: (n: number) => Promise<T>) =>
  Promise.all(Array.from({ length: count }, (_, n) => run(n)));

/**
 * The number of responses per status, and whether all arrived in time, so no request waited for a lock until
 * its end.
 */
async function tally(run: () => Promise<{ status: number }[]>) {
  const startMs = performance.now();
  const statuses: Record<number, number> = {};
  for (const { status } of await run()) statuses[status] = (statuses[status] ?? 0) + 1;
  return { statuses, isPrompt: performance.now() - startMs < 8_000 };
}

describe("a request that cannot use the database is rejected and does not hang", () => {
  test("if keys cannot be looked up", async () => {
    const keys = await many(5, () => world.key());
    const seen = await whileLocked("api_keys", () =>
      tally(() => many(50, (n) => world.api("GET", "/api/emails", { token: keys[n % 5]?.token ?? "" }))),
    );
    expect(seen).toEqual({ statuses: { 503: 50 }, isPrompt: true });
  });

  test("if reads wait behind others that do not end", async () => {
    let stuck: Promise<{ status: number }[]> | undefined;
    const seen = await whileLocked("emails", () =>
      tally(async () => {
        // Two requests use the pool's connections until the lock is released; the others wait behind them.
        stuck = many(2, () => world.api("GET", "/api/emails", { token }));
        await expect.poll(lockWaits).toBe(2);
        return many(50, () => world.api("GET", "/api/emails", { token }));
      }),
    );
    expect(seen).toEqual({ statuses: { 503: 50 }, isPrompt: true });
    expect((await stuck)?.map(({ status }) => status)).toEqual([200, 200]);
  });

  test("if email cannot be written, and rejected email is never written later", async () => {
    const before = (await world.rowCounts()).emails ?? 0;
    let stuck: Promise<{ status: number }> | undefined;
    const seen = await whileLocked("emails", () =>
      tally(async () => {
        stuck = world.api("POST", "/api/emails", { token, body: EMAIL });
        await expect.poll(lockWaits).toBe(1);
        return many(50, () => world.api("POST", "/api/emails", { token, body: EMAIL }));
      }),
    );
    expect(seen).toEqual({ statuses: { 503: 50 }, isPrompt: true });
    expect((await stuck)?.status).toBe(200);
    expect((await world.api("POST", "/api/emails", { token, body: EMAIL })).status).toBe(200);
    expect((await world.rowCounts()).emails).toBe(before + 2);
  });

  test("with advice, the rate-limit headers and Retry-After", async () => {
    const { token: fresh } = await world.key();
    const reply = await whileLocked("api_keys", () => world.api("GET", "/api/emails", { token: fresh }));
    expect(reply.status).toBe(503);
    expect(reply.headers).toMatchObject({ "retry-after": "2", "x-ratelimit-limit": "60" });
    expect(reply.body).toMatchObject({ name: "application_error", statusCode: 503 });
    expect(reply.body.message).toMatch(/busy or unavailable.*Try again.*Idempotency-Key/);
  });
});

test("a database that is available again is used immediately, and every email that got 200 exists", async () => {
  const accepted: string[] = [];
  const refused = new Set<number>();
  const post = async () => {
    const { status, body } = await world.api("POST", "/api/emails", { token, body: EMAIL });
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
      .poll(async () => (await world.api("POST", "/api/emails", { token, body: EMAIL })).status, {
        timeout: 30_000,
      })
      .toBe(200);
  }
  // A connection may be closed before the pool notices it; a read on it gets 503 and is retried.
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

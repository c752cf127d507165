import { afterEach, beforeAll, describe, expect, test } from "vitest";
import { listenForChanges } from "#db/notify";
import type { Cookies } from "#server/auth/cookies";
import { startWorker } from "#server/delivery/worker";
import { newId } from "#server/platform/ids";
import { getMarks, type Marks, type Topic } from "#server/services/live/changes";
import { createLive, type Live } from "#server/services/live/watch";
import { createWebhook } from "#server/services/webhooks/endpoints";
import { answerTrpc } from "#server/trpc/http";
import type { LiveMessage } from "#server/trpc/live";
import { noCookies, openConsole, queryPath } from "../support/console/console";
import { readEvents } from "../support/console/events";

/*
 * Each change of a team is reported to its open pages, and to no others, at the cost of one statement per
 * team and second.
 */

const console = await openConsole();
const userId = (await console.person({ role: "viewer" })).id;

const sessionId = newId();
/** For pages that stay allowed. */
const findAllowed = async (_: string, sessionIds: readonly string[]) => new Set(sessionIds);

const opened: Live[] = [];
afterEach(() => {
  for (const live of opened.splice(0)) live.close();
});

/** The live changes of this world. Readings follow one another without a pause. */
function openLive(
  read = (teamId: string) => getMarks(console.deps, teamId),
  more: Partial<Parameters<typeof createLive>[0]> = {},
): Live {
  const live = createLive({ read, findAllowed, log: console.deps.log, everyMs: 1, ...more });
  opened.push(live);
  return live;
}

/** Watches as a page does. `next` is the next list of topics that is not empty. */
async function watch(live: Live, teamId = console.world.ctx.teamId) {
  const changes = live.watch({ teamId, userId, sessionId }, new AbortController().signal);
  if (!changes) throw new Error("too many watchers");
  expect((await changes.next()).value).toEqual([]);
  return {
    next: async (): Promise<readonly Topic[] | undefined> => (await changes.next()).value ?? undefined,
    leave: () => changes.return(undefined),
  };
}

const settle = (teamId = console.world.ctx.teamId): Promise<Marks> => getMarks(console.deps, teamId);

describe("hints", () => {
  const hourMs = 3_600_000;

  let onHint = () => {};
  // Each channel also calls back once it is listened to.
  beforeAll(
    () =>
      new Promise<void>((resolve) => {
        let channels = 0;
        listenForChanges(console.deps.hot, () => (++channels === 2 ? resolve() : onHint()));
      }),
  );

  /** Receives hints through the database. Without a hint, the next reading is in an hour. */
  const openHinted = (): Live => {
    const live = openLive(undefined, {
      everyMs: hourMs,
      listen: (hint) => {
        onHint = hint;
        return () => true;
      },
    });
    return live;
  };

  test("report an email that another process accepts", async () => {
    const page = await watch(openHinted());
    await console.world.send();
    expect(await page.next()).toEqual(["emails"]);
  });

  test("report an email that another process delivers", async () => {
    await console.world.send();
    const page = await watch(openHinted());
    const worker = await startWorker(console.world.withTransport());
    try {
      expect(await page.next()).toEqual(["emails"]);
    } finally {
      await worker.stop();
    }
  });

  test("a change in the console is read at once by the pages of its process", async () => {
    const live = openLive(undefined, { everyMs: hourMs });
    const page = await watch(live);
    const owner = await console.cookiesOf((await console.person({ role: "owner" })).id);
    const input = { team: console.world.ctx.teamId, text: "hint@example.org" };
    const call = new Request(`${console.deps.url}/api/trpc/suppressions.add`, {
      method: "POST",
      headers: { "content-type": "application/json", "content-length": "100", origin: console.deps.url },
      body: JSON.stringify(input),
    });
    expect((await answerTrpc({ ...console.deps, live }, call, owner)).status).toBe(200);
    expect(await page.next()).toContain("settings");
  });

  test("in any number cost a team no more than its budget", async () => {
    let readings = 0;
    const live = openLive(
      async () => {
        readings += 1;
        return { emails: `${readings}`, webhooks: null, settings: null };
      },
      { everyMs: hourMs },
    );
    const page = await watch(live);
    for (let expected = 2; expected <= 3; expected++) {
      live.hint();
      expect(await page.next()).toEqual(["emails"]);
      expect(readings).toBe(expected);
    }
    for (let hint = 0; hint < 100; hint++) {
      live.hint();
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(readings).toBe(3);
  });
});

describe("a page receives", () => {
  test("a change in the audit log", async () => {
    const page = await watch(openLive());
    await console.world.key();
    expect(await page.next()).toEqual(["settings"]);
  });

  test("a webhook's attempts, and the replay of an old event", async () => {
    const { ctx, hot } = console.world;
    const { id } = await createWebhook(ctx, {
      url: "https://hooks.example.org/",
      events: ["email.sent"],
      status: "enabled",
    });
    const page = await watch(openLive());
    const change = (sql: ReturnType<typeof hot>) => Promise.all([sql, page.next()]);
    const [, created] = await change(hot`
      insert into webhook_deliveries (id, team_id, webhook_id, type)
      select event, ${ctx.teamId}, ${id}, 'email.sent' from unnest(${Array.from({ length: 20 }, newId)}::uuid[]) as event`);
    expect(created).toEqual(["webhooks"]);
    const [, tried] = await change(hot`
      update webhook_deliveries set status = 'success', attempts = 1 where webhook_id = ${id}`);
    expect(tried).toEqual(["webhooks"]);
    const [, replayed] = await change(hot`
      update webhook_deliveries set status = 'pending', attempts = 0
      where id = (select min(id::text)::uuid from webhook_deliveries where webhook_id = ${id})`);
    expect(replayed).toEqual(["webhooks"]);
  });

  test("an event that commits after a later one", async () => {
    await console.world.send();
    const { hot, ctx } = console.world;
    const { teamId } = ctx;
    let commit = () => {};
    const held = new Promise<void>((resolve) => {
      commit = resolve;
    });
    let written = () => {};
    const isWritten = new Promise<void>((resolve) => {
      written = resolve;
    });
    const slow = hot.begin(async (tx) => {
      await tx`insert into email_events (id, team_id, email_id, type)
        select ${newId()}, ${teamId}, email_id, 'email.opened' from email_events where team_id = ${teamId} limit 1`;
      written();
      await held;
    });
    await isWritten;
    await console.world.send();
    const page = await watch(openLive());
    const before = await settle();
    commit();
    await slow;
    expect(await page.next()).toEqual(["emails"]);
    expect((await settle()).emails).not.toBe(before.emails);
  });

  test("no change of another team", async () => {
    const other = await console.world.otherTeam();
    const before = await settle(other.id);
    const page = await watch(openLive());
    await console.world.send();
    await page.next();
    expect(await settle(other.id)).toEqual(before);
  });
});

describe("a hundred pages of one team", () => {
  test("share one reading at a time, and nothing is read after the last has left", async () => {
    let inProgress = 0;
    let mostInProgress = 0;
    let readings = 0;
    const marks = { emails: "0", webhooks: null, settings: null };
    const live = openLive(async () => {
      readings += 1;
      mostInProgress = Math.max(mostInProgress, ++inProgress);
      await new Promise((resolve) => setImmediate(resolve));
      inProgress -= 1;
      return { ...marks };
    });
    const watchers = Array.from({ length: 100 }, (_, index) =>
      live.watch({ teamId: "a", userId: `user ${index % 10}`, sessionId }, new AbortController().signal),
    );
    await Promise.all(watchers.map((each) => each?.next()));
    const readingsToEnter = readings;
    marks.emails = "1";
    const received = await Promise.all(watchers.map((each) => each?.next()));
    expect(received.map((each) => each?.value)).toEqual(Array.from({ length: 100 }, () => ["emails"]));
    expect(readingsToEnter).toBeLessThan(10);
    expect(mostInProgress).toBe(1);
    await Promise.all(watchers.map((each) => each?.return(undefined)));
    await new Promise((resolve) => setTimeout(resolve, 20));
    const afterLast = readings;
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(readings).toBe(afterLast);
  });

  test("receive each change once", async () => {
    const readings: (() => void)[] = [];
    const live = openLive(async () => {
      for (const done of readings.splice(0)) done();
      return { emails: "same", webhooks: null, settings: null };
    });
    const page = live.watch({ teamId: "a", userId, sessionId }, new AbortController().signal);
    expect((await page?.next())?.value).toEqual([]);
    let hasReceived = false;
    void page?.next().then(() => {
      hasReceived = true;
    });
    for (let round = 0; round < 5; round++) await new Promise<void>((resolve) => readings.push(resolve));
    expect(hasReceived).toBe(false);
  });
});

test("a reading that fails ends nothing", async () => {
  let isAway = true;
  const live = openLive(
    async () => {
      if (!isAway) return { emails: null, webhooks: null, settings: null };
      isAway = false;
      throw new Error("away");
    },
    { everyMs: 1, afterFaultMs: 1 },
  );
  const page = live.watch({ teamId: "a", userId, sessionId }, new AbortController().signal);
  expect((await page?.next())?.value).toEqual([]);
  expect(console.lines.map(({ event }) => event)).toContain("live.not_read");
});

test("one user cannot hold all connections", () => {
  const live = openLive(() => new Promise(() => {}));
  const pages = Array.from({ length: 60 }, () => {
    const page = live.watch({ teamId: "a", userId, sessionId }, new AbortController().signal);
    void page?.next();
    return page;
  });
  expect(pages.filter((page) => page === null)).toHaveLength(10);
  expect(
    live.watch({ teamId: "a", userId: "another", sessionId }, new AbortController().signal),
  ).not.toBeNull();
});

describe("over HTTP", () => {
  /** Opens the connection of a page. */
  const connect = (team: string, cookies: Cookies, live: Live | null = null): Promise<Response> =>
    answerTrpc(
      { ...console.deps, live },
      new Request(`${console.deps.url}/api/trpc/${queryPath("live.changes", { team })}`),
      cookies,
    );

  test("the events of a visible page end when the server stops", async () => {
    const live = openLive();
    const session = await console.cookiesOf(userId);
    const response = await connect(console.world.ctx.teamId, session, live);
    expect(response.status).toBe(200);
    expect(response.headers.get("content-type")).toBe("text/event-stream");
    // A proxy that compressed or collected the events would hold them back.
    expect(response.headers.get("cache-control")).toContain("no-transform");
    const messages = listStoredMessages(response);
    expect(await messages.next()).toMatchObject({ value: { isLive: true, changed: [] } });
    await console.world.send();
    expect(await messages.next()).toMatchObject({ value: { isLive: true, changed: ["emails"] } });
    live.close();
    expect(await messages.next()).toMatchObject({ done: true });
  });

  test("a server that reports no changes ends the connection after a message", async () => {
    const session = await console.cookiesOf(userId);
    const messages = listStoredMessages(await connect(console.world.ctx.teamId, session));
    expect(await messages.next()).toMatchObject({ value: { isLive: false } });
    expect(await messages.next()).toMatchObject({ done: true });
  });

  test("a team of other people looks like a team that does not exist", async () => {
    const other = await console.world.otherTeam();
    const session = await console.cookiesOf(userId);
    const foreign = await errorOf(connect(other.id, session));
    expect(foreign).toMatchObject({ message: "Team not found", data: { code: "NOT_FOUND" } });
    const { requestId: _, ...data } = foreign.data;
    expect(await errorOf(connect("x", session))).toMatchObject({ ...foreign, data });
    const signedOut = await errorOf(connect(console.world.ctx.teamId, noCookies));
    expect(signedOut).toMatchObject({ data: { code: "UNAUTHORIZED" } });
  });
});

/** The error that ends the stream of a connection. */
async function errorOf(
  connection: Promise<Response>,
): Promise<{ message: string; data: Record<string, unknown> }> {
  for await (const { name, data } of readEvents(await connection))
    if (name === "serialized-error") return JSON.parse(data);
  throw new Error("the stream has no error");
}

/** The messages of the procedure. */
async function* listStoredMessages(response: Response): AsyncGenerator<LiveMessage> {
  for await (const { name, data } of readEvents(response)) if (name === "message") yield JSON.parse(data);
}

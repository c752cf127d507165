import { beforeEach, describe, expect, test } from "vitest";
import { deliverDue } from "../support/pump-engine";
import { rejected } from "../support/rejected";
import { openWorld, type TestTeam } from "../support/world";

type Line = Record<string, unknown> & { day: string; domain: string; api_key_id: string | null };
type Usage = Record<string, unknown> & { days: Line[]; total: Record<string, number> };

/** A new team for each test, with a domain of its own. */
let team: TestTeam;
let domain: string;
let token: string;
let keyId: string;
let count = 0;
const world = await openWorld();
beforeEach(async () => {
  team = await world.otherTeam();
  domain = `usage${++count}.example`;
  await team.domain(domain);
  ({ token, id: keyId } = await team.key());
});

const today = () => world.clock.now().toISOString().slice(0, 10);
const NOTHING = {
  accepted: 0,
  sent: 0,
  delivered: 0,
  bounced: 0,
  complained: 0,
  failed: 0,
  suppressed: 0,
  unknown: 0,
};
const send = async (to: string[], from = "ann@backstamp.test", by = token) => {
  const body = { from, to, subject: "Hello", html: "<p>Hi</p>" };
  const reply = await world.api("POST", "/api/emails", { token: by, body });
  expect(reply.status, reply.text).toBe(200);
  return String(reply.body.id);
};
const deliver = () => deliverDue(world.withTransport(null));
const usage = async (query = "", by = token): Promise<Usage> => {
  const reply = await world.api("GET", `/api/usage${query}`, { token: by });
  expect(reply.status, reply.text).toBe(200);
  return reply.body as Usage;
};
/** Waits for open transactions of other tests in the cluster, because the counts follow the feed. */
const settled = async (query: string, total: object) => {
  await expect.poll(async () => (await usage(query)).total, { timeout: 20_000 }).toMatchObject(total);
  return usage(query);
};

test("email is counted per recipient by day, key and domain", async () => {
  const second = await team.key();
  await send(["delivered@backstamp.test", "bounced@backstamp.test", "complained@backstamp.test"]);
  await send(["suppressed@backstamp.test", "unknown@backstamp.test"]);
  await send(["delivered@backstamp.test"], "ann@backstamp.test", second.token);
  await send(["ben@example.net"], `ann@${domain}`);
  await deliver();
  const { days, total, ...rest } = await settled("", { accepted: 7, complained: 1 });
  const line = (key: string, from: string, counts: object) => ({
    day: today(),
    api_key_id: key,
    api_key_name: "Test key",
    domain: from,
    ...NOTHING,
    ...counts,
  });
  expect(days).toHaveLength(3);
  expect(days).toEqual(
    expect.arrayContaining([
      line(keyId, "backstamp.test", {
        accepted: 5,
        sent: 3,
        delivered: 2,
        bounced: 1,
        complained: 1,
        suppressed: 1,
      }),
      line(second.id, "backstamp.test", { accepted: 1, sent: 1, delivered: 1 }),
      line(keyId, domain, { accepted: 1 }),
    ]),
  );
  expect(total).toMatchObject({ accepted: 7, sent: 4, delivered: 3, bounced: 1 });
  expect(rest).toMatchObject({
    object: "usage",
    until: today(),
    complete: true,
    emails: {
      daily: {
        used: 7,
        limit: null,
        sent: 4,
        received: 0,
        resets_at: expect.stringMatching(/T00:00:00\.000Z$/),
      },
      monthly: {
        used: 7,
        limit: null,
        sent: 4,
        received: 0,
        resets_at: expect.stringMatching(/-01T00:00:00\.000Z$/),
      },
    },
    domains: { used: 1, limit: null },
    rate_limit: { limit: 1_000_000, duration: "1m" },
  });
  expect((await usage(`?key=${second.id}`)).total).toMatchObject({ accepted: 1 });
  expect((await usage(`?domain=${domain}`)).total).toMatchObject({ accepted: 1 });
  expect((await usage(`?domain=${domain}&key=${second.id}`)).days).toEqual([]);
});

test("an email counts on the day on which it was accepted, in the current status of its recipients", async () => {
  const id = await send(["delivered@backstamp.test", "delivered+2@backstamp.test"]);
  await world.hot`update emails set created_at = created_at - interval '2 days' where id = ${id}`;
  await settled("", { accepted: 2, delivered: 0 });
  await deliver();
  const { days } = await settled("", { delivered: 2 });
  expect(days.map(({ day, accepted, delivered }) => [day, accepted, delivered])).toEqual([
    [new Date(world.clock.now().getTime() - 2 * 86_400_000).toISOString().slice(0, 10), 2, 2],
  ]);
});

describe("the requested days", () => {
  test("are the last 30 or a range of at most 92", async () => {
    expect(await usage("?until=2026-03-31")).toMatchObject({ since: "2026-03-02", until: "2026-03-31" });
    expect(await usage("?since=2026-03-02")).toMatchObject({ since: "2026-03-02", until: "2026-03-31" });
    expect(await usage("?since=2026-01-01&until=2026-04-02")).toMatchObject({ days: [] });
  });

  test("are rejected if invalid", async () => {
    for (const [query, message] of [
      ["since=2026-01-01&until=2026-04-03", /92 days/],
      ["since=2026-02-02&until=2026-02-01", /before/],
      ["since=2026-02-30", /day in UTC, such as/],
      ["since=2026-02-01T00:00:00Z", /day in UTC, such as/],
      ["key=1", /API key/],
      ["domain=localhost", /domain/],
    ] as const)
      expect(await world.api("GET", `/api/usage?${query}`, { token }), query).toMatchObject(
        rejected(422, message),
      );
  });
});

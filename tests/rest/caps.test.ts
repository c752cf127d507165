import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { changeTeam } from "#server/services/teams";
import { createCapture } from "#server/worker/capture";
import { tick } from "#server/worker/tick";
import { passDay } from "../support/pass-day";
import { createWorld, type World } from "../support/world";

let world: World;
let token: string;
beforeAll(async () => {
  world = await createWorld({ transportKind: "capture" });
  ({ token } = await world.key());
});
afterAll(() => world.close());

const GROWS = { first_day: 5, growth_percent: 50, target: 100 };

let count = 0;
let name: string;
let id: string;
beforeEach(async () => {
  name = `d${++count}.example.com`;
  ({ id } = await world.domain(name));
});

const call = (method: string, path: string, body?: object) =>
  world.api(method, path, { token, ...(body === undefined ? {} : { body }) });
const change = (body: object) => call("PATCH", `/api/domains/${id}`, body);
const shown = async () => (await call("GET", `/api/domains/${id}`)).body;
const today = async () => {
  const [row] = await world.deps.hot<{ day: string }[]>`select (now() at time zone 'utc')::date::text as day`;
  return row?.day;
};
const mail = (more: object = {}) => ({
  from: `ann@${name}`,
  to: ["ann@example.net", "ben@example.net"],
  subject: "Hello",
  html: "<p>Hi</p>",
  ...more,
});
const round = () => tick({ ...world.deps, transport: createCapture(world.deps.hot) }, { budgetMs: 20_000 });
type Recipient = { address: string; rule: string | null; rule_text: string | null; next_attempt_at: string };
const recipientsOf = async (emailId: unknown): Promise<Recipient[]> =>
  (await call("GET", `/api/emails/${emailId}`)).body.recipients as Recipient[];

describe("a domain's day", () => {
  test("has no bounds unless they are set, at once or later, and each is taken away by its word", async () => {
    expect(await shown()).toMatchObject({
      daily_cap: null,
      warm_up: null,
      today: { allowed: null, handed_over: 0 },
    });
    const { status, body } = await call("POST", "/api/domains", {
      name: `new.${name}`,
      daily_cap: 500,
      warm_up: { start_date: "2026-01-31", first_day: 20, growth_percent: 30 },
    });
    expect(status).toBe(201);
    expect(body).toMatchObject({
      daily_cap: 500,
      warm_up: { start_date: "2026-01-31", first_day: 20, growth_percent: 30, target: null },
    });

    expect((await change({ warm_up: { first_day: 50, growth_percent: 50, target: 1_000 } })).status).toBe(
      200,
    );
    expect(await shown()).toMatchObject({
      daily_cap: null,
      warm_up: { start_date: await today(), first_day: 50, growth_percent: 50, target: 1_000 },
      today: { allowed: 50, handed_over: 0 },
    });
    // What is absent stays as it is, and null is as good as absent.
    await change({ daily_cap: 60, warm_up: null });
    await passDay(world.deps.hot);
    expect(await shown()).toMatchObject({ daily_cap: 60, warm_up: {}, today: { allowed: 60 } });
    await change({ daily_cap: "none" });
    expect(await shown()).toMatchObject({ daily_cap: null, today: { allowed: 75 } });
    await change({ warm_up: "none" });
    expect(await shown()).toMatchObject({ daily_cap: null, warm_up: null, today: { allowed: null } });
  });

  test.each([
    [{ daily_cap: -1 }, /`daily_cap`: Must be a whole number from 0/],
    [{ daily_cap: 1.5 }, /`daily_cap`: Must be/],
    [{ daily_cap: "many" }, /`daily_cap`: Must be/],
    [{ daily_cap: 100_000_001 }, /`daily_cap`: Must be/],
    [{ warm_up: true }, /`warm_up`: Must be none, or an object/],
    [{ warm_up: { first_day: 50, target: 100 } }, /`warm_up`: Must be none, or an object/],
    [{ warm_up: { first_day: 0, growth_percent: 50, target: 100 } }, /`warm_up\.first_day`: Must be/],
    [{ warm_up: { first_day: 5, growth_percent: 901, target: 100 } }, /`warm_up\.growth_percent`.* to 900/],
    [{ warm_up: { ...GROWS, start_date: "tomorrow" } }, /`warm_up\.start_date`: Must be a day/],
    [{ warm_up: { ...GROWS, start_date: "0000-01-01" } }, /`warm_up\.start_date`: Must be a day/],
    [{ warm_up: { ...GROWS, until: 5 } }, /Unknown field `warm_up\.until`/],
    [{ warm_up: { first_day: 50, growth_percent: 50 } }, /where it ends/],
    [{ warm_up: { first_day: 50, growth_percent: 50, target: 50 } }, /has to be less/],
    [{ daily_cap: 20, warm_up: { first_day: 50, growth_percent: 50 } }, /has to be less/],
  ])("is not bounded by %j", async (body, message) => {
    const before = await shown();
    const reply = await change(body);
    expect({ status: reply.status, message: reply.body.message }).toEqual({
      status: 422,
      message: expect.stringMatching(message),
    });
    expect(await shown()).toEqual(before);
  });

  test("that ends a warm-up keeps its bound while the warm-up has no other end", async () => {
    await change({ daily_cap: 100, warm_up: { first_day: 50, growth_percent: 50 } });
    expect((await change({ daily_cap: "none" })).body.message).toMatch(/where it ends/);
    expect((await change({ daily_cap: "none", warm_up: "none" })).status).toBe(200);
  });
});

describe("mail beyond what a day allows", () => {
  test("waits for the next day, and its timeline says by which rule and until when", async () => {
    await change({ daily_cap: 1 });
    const { body } = await call("POST", "/api/emails", mail());
    await round();
    const recipients = await recipientsOf(body.id);
    const waiting = recipients.filter(({ rule }) => rule !== null);
    expect(waiting).toHaveLength(1);
    expect(waiting[0]).toMatchObject({
      status: "queued",
      attempts: 0,
      rule: "daily_cap",
      rule_text: expect.stringMatching(/next day/),
    });
    const dayAfter = Date.parse(`${await today()}T00:00:00Z`) + 86_400_000;
    const next = Date.parse(waiting[0]?.next_attempt_at ?? "");
    expect(next).toBeGreaterThanOrEqual(dayAfter);
    expect(next).toBeLessThanOrEqual(dayAfter + 3_600_000);
    expect((await shown()).today).toEqual({ allowed: 1, handed_over: 1 });

    await passDay(world.deps.hot);
    await round();
    expect((await call("GET", `/api/emails/${body.id}`)).body.status).toBe("delivered");
    expect((await shown()).today).toEqual({ allowed: 1, handed_over: 1 });
  });

  test("is foreseen by a dry run: for whom there is room today, and by which rule the others wait", async () => {
    await change({ warm_up: { first_day: 1, growth_percent: 50, target: 10 } });
    const dryRun = async (path: string, body: object) =>
      (await call("POST", `${path}?dry_run=true`, body)).body as Record<string, unknown>;
    const attempted = { outcome: "attempted", rule: "captured" };
    const waiting = { outcome: "waiting", rule: "warm_up", rule_text: expect.stringMatching(/warm-up/) };
    expect(await dryRun("/api/emails", mail())).toMatchObject({ recipients: [attempted, waiting] });
    const { data } = await dryRun("/api/emails/batch", [mail({ to: "ann@example.net" }), mail()]);
    expect(data).toMatchObject([{ recipients: [attempted] }, { recipients: [waiting, waiting] }]);
    // Of another day nobody knows yet what is left.
    const later = mail({ scheduled_at: "in 2 days" });
    expect(await dryRun("/api/emails", later)).toMatchObject({ recipients: [attempted, attempted] });
    expect((await shown()).today).toEqual({ allowed: 1, handed_over: 0 });
  });

  test("of the whole team waits by the operator's rule, whatever its domains allow", async () => {
    const other = await world.otherTeam(`Capped ${count}`);
    const { token: theirs } = await other.key();
    await other.domain(`theirs.${name}`);
    await changeTeam(other.ctx, { dailyCap: 1 });
    const theirMail = mail({ from: `ann@theirs.${name}` });
    const { body } = await world.api("POST", "/api/emails", { token: theirs, body: theirMail });
    await round();
    const { body: email } = await world.api("GET", `/api/emails/${body.id}`, { token: theirs });
    expect((email.recipients as Recipient[]).map(({ rule }) => rule).sort()).toEqual(
      [null, "team_daily_cap"].sort(),
    );
    const dryRun = await world.api("POST", "/api/emails?dry_run=true", { token: theirs, body: theirMail });
    expect(dryRun.body).toMatchObject({
      recipients: [{ rule: "team_daily_cap" }, { rule: "team_daily_cap" }],
    });
  });
});

describe("a mail's priority", () => {
  test("is normal unless told otherwise, and shown", async () => {
    const { body: plain } = await call("POST", "/api/emails", mail());
    const { body: batch } = await call("POST", "/api/emails/batch", [
      mail({ priority: "low" }),
      mail({ priority: null }),
    ]);
    const { body: high } = await call("POST", "/api/emails", mail({ priority: "high" }));
    const ids = [plain.id, ...(batch.data as { id: string }[]).map((each) => each.id), high.id];
    const priorities = await Promise.all(
      ids.map(async (each) => (await call("GET", `/api/emails/${each}`)).body.priority),
    );
    expect(priorities).toEqual(["normal", "low", "normal", "high"]);
    const { body: list } = await call("GET", "/api/emails?limit=1");
    expect(list.data).toMatchObject([{ id: high.id, priority: "high" }]);
  });

  test("is one of three", async () => {
    const { status, body } = await call("POST", "/api/emails", mail({ priority: "urgent" }));
    expect({ status, message: body.message }).toEqual({
      status: 422,
      message: expect.stringMatching(/`priority`.*high, normal, low/),
    });
  });
});

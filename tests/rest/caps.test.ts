import { beforeEach, describe, expect, test } from "vitest";
import { updateTeam } from "#server/services/teams";
import { elapseDay } from "../support/database/elapse-day";
import { deliverDue } from "../support/pump-engine";
import { rejected } from "../support/rejected";
import { openTestApp } from "./test-app";

const { world, call } = await openTestApp({ transportKind: "capture" });

const GROWS = { first_day: 5, growth_percent: 50, target: 100 };

let count = 0;
let name: string;
let id: string;
beforeEach(async () => {
  name = `d${++count}.example.com`;
  ({ id } = await world.domain(name));
});

const change = (body: object) => call("PATCH", `/api/domains/${id}`, body);
const getDomain = async () => (await call("GET", `/api/domains/${id}`)).body;
const today = async () => {
  const [row] = await world.hot<{ day: string }[]>`select (now() at time zone 'utc')::date::text as day`;
  return row?.day;
};
const newEmail = (more: object = {}) => ({
  from: `ann@${name}`,
  to: ["ann@example.net", "ben@example.net"],
  subject: "Hello",
  html: "<p>Hi</p>",
  ...more,
});
const round = () => deliverDue(world.withTransport());
type Recipient = { address: string; rule: string | null; rule_text: string | null; next_attempt_at: string };
const recipientsOf = async (emailId: unknown): Promise<Recipient[]> =>
  (await call("GET", `/api/emails/${emailId}`)).body.recipients as Recipient[];

describe("a domain's daily limit", () => {
  test("is absent by default, can be set on creation or later, and is removed with `none`", async () => {
    expect(await getDomain()).toMatchObject({
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
    expect(await getDomain()).toMatchObject({
      daily_cap: null,
      warm_up: { start_date: await today(), first_day: 50, growth_percent: 50, target: 1_000 },
      today: { allowed: 50, handed_over: 0 },
    });
    // An absent field does not change, and null counts as absent.
    await change({ daily_cap: 60, warm_up: null });
    await elapseDay(world.hot);
    expect(await getDomain()).toMatchObject({ daily_cap: 60, warm_up: {}, today: { allowed: 60 } });
    await change({ daily_cap: "none" });
    expect(await getDomain()).toMatchObject({ daily_cap: null, today: { allowed: 75 } });
    await change({ warm_up: "none" });
    expect(await getDomain()).toMatchObject({ daily_cap: null, warm_up: null, today: { allowed: null } });
  });

  test.each([
    [{ daily_cap: -1 }, /`daily_cap`: Must be a whole number from 0/],
    [{ daily_cap: 100_000_001 }, /`daily_cap`: Must be/],
    [{ warm_up: { first_day: 50, target: 100 } }, /`warm_up`: Must be none, or an object/],
    [{ warm_up: { first_day: 5, growth_percent: 901, target: 100 } }, /`warm_up\.growth_percent`.* to 900/],
    [{ warm_up: { ...GROWS, start_date: "tomorrow" } }, /`warm_up\.start_date`: Must be a day/],
    [{ warm_up: { ...GROWS, until: 5 } }, /Unknown field `warm_up\.until`/],
    [{ warm_up: { first_day: 50, growth_percent: 50 } }, /as its end/],
    [{ warm_up: { first_day: 50, growth_percent: 50, target: 50 } }, /must be less/],
    [{ daily_cap: 20, warm_up: { first_day: 50, growth_percent: 50 } }, /must be less/],
  ])("rejects %j", async (body, message) => {
    const before = await getDomain();
    expect(await change(body)).toMatchObject(rejected(422, message));
    expect(await getDomain()).toEqual(before);
  });

  test("cannot be removed while a warm-up without a target ends at it", async () => {
    await change({ daily_cap: 100, warm_up: { first_day: 50, growth_percent: 50 } });
    expect((await change({ daily_cap: "none" })).body.message).toMatch(/as its end/);
    expect((await change({ daily_cap: "none", warm_up: "none" })).status).toBe(200);
  });
});

describe("email above the daily limit", () => {
  test("waits for the next day, and its timeline contains the rule and the time", async () => {
    await change({ daily_cap: 1 });
    const { body } = await call("POST", "/api/emails", newEmail());
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
    expect((await getDomain()).today).toEqual({ allowed: 1, handed_over: 1 });

    await elapseDay(world.hot);
    await round();
    expect((await call("GET", `/api/emails/${body.id}`)).body.status).toBe("delivered");
    expect((await getDomain()).today).toEqual({ allowed: 1, handed_over: 1 });
  });

  test("is predicted by a dry run, which returns the rule for each recipient", async () => {
    await change({ warm_up: { first_day: 1, growth_percent: 50, target: 10 } });
    const dryRun = async (path: string, body: object) =>
      (await call("POST", `${path}?dry_run=true`, body)).body as Record<string, unknown>;
    const attempted = { outcome: "attempted", rule: "captured" };
    const waiting = { outcome: "waiting", rule: "warm_up", rule_text: expect.stringMatching(/warm-up/) };
    expect(await dryRun("/api/emails", newEmail())).toMatchObject({ recipients: [attempted, waiting] });
    const { data } = await dryRun("/api/emails/batch", [newEmail({ to: "ann@example.net" }), newEmail()]);
    expect(data).toMatchObject([{ recipients: [attempted] }, { recipients: [waiting, waiting] }]);
    // The remaining number of another day is not known yet.
    const later = newEmail({ scheduled_at: "in 2 days" });
    expect(await dryRun("/api/emails", later)).toMatchObject({ recipients: [attempted, attempted] });
    expect((await getDomain()).today).toEqual({ allowed: 1, handed_over: 0 });
  });

  test("of the whole team is predicted to wait for the operator's team limit", async () => {
    const other = await world.otherTeam(`Capped ${count}`);
    const { token: theirs } = await other.key();
    await other.domain(`theirs.${name}`);
    await updateTeam(other.ctx, { dailyCap: 1 });
    const email = newEmail({ from: `ann@theirs.${name}` });
    const { body } = await call("POST", "/api/emails?dry_run=true", email, theirs);
    expect(body.recipients).toMatchObject([{ outcome: "attempted" }, { rule: "team_daily_cap" }]);
  });
});

describe("the priority of an email", () => {
  test("is normal by default and is returned", async () => {
    const { body: plain } = await call("POST", "/api/emails", newEmail());
    const { body: batch } = await call("POST", "/api/emails/batch", [
      newEmail({ priority: "low" }),
      newEmail({ priority: null }),
    ]);
    const { body: high } = await call("POST", "/api/emails", newEmail({ priority: "high" }));
    const ids = [plain.id, ...(batch.data as { id: string }[]).map((each) => each.id), high.id];
    const priorities = await Promise.all(
      ids.map(async (each) => (await call("GET", `/api/emails/${each}`)).body.priority),
    );
    expect(priorities).toEqual(["normal", "low", "normal", "high"]);
    const { body: list } = await call("GET", "/api/emails?limit=1");
    expect(list.data).toMatchObject([{ id: high.id, priority: "high" }]);
  });

  test("has one of three values", async () => {
    expect(await call("POST", "/api/emails", newEmail({ priority: "urgent" }))).toMatchObject(
      rejected(422, /`priority`.*high, normal, low/),
    );
  });
});

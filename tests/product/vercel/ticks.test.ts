import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { pgbouncerMissing } from "../../support/processes/pgbouncer";
import { type Act, PASS } from "../../support/servers/smtp-test-server";
import type { FunctionInstance } from "./functions";
import { type Installation, openInstallation } from "./installation";

const suite = `functions behind PgBouncer${pgbouncerMissing ? ` (skipped: ${pgbouncerMissing})` : ""}`;
const eventually = { timeout: 30_000, interval: 50 };
const to = "ben@example.net";

describe.skipIf(pgbouncerMissing)(suite, () => {
  let place: Installation;
  let first: FunctionInstance;
  let second: FunctionInstance;
  /** What the relay does next at RCPT and at the final dot; afterwards it accepts. */
  const acts: { rcpt: Act[]; message: Promise<Act>[] } = { rcpt: [], message: [] };

  beforeAll(async () => {
    place = await openInstallation({
      rcpt: () => acts.rcpt.shift() ?? PASS,
      message: () => acts.message.shift() ?? PASS,
    });
    [first, second] = await Promise.all([place.start(), place.start()]);
  });
  beforeEach(() => {
    place.relay.messages.length = 0;
  });
  afterAll(() => place?.close());

  const statusOf = async (id: string | null) => (await place.delivery(id))?.status;

  async function postDeferred(subject: string): Promise<string | null> {
    acts.rcpt.push("451 4.7.1 try again later");
    const id = await place.post(first, subject, [to]);
    await expect
      .poll(
        () =>
          place.sql`select 1 from email_events where type = 'email.delivery_delayed' and email_id = ${id}`,
        eventually,
      )
      .toHaveLength(1);
    return id;
  }

  test("a deferred email goes out at the first tick after it is due, without another request", async () => {
    const id = await postDeferred("Deferred");
    expect(await second.tick()).toBe(200);
    expect(place.copies()).toEqual([]);
    // Its tick is missed for an hour. Then two ticks come at once.
    await place.sql`update deliveries set due_at = now() - interval '1 hour' where email_id = ${id}`;
    expect(await Promise.all([first.tick(), second.tick(), second.tick()])).toEqual([200, 200, 200]);
    expect(place.copies()).toEqual([`Deferred ${to}`]);
    expect(await statusOf(id)).toBe("sent");
    expect(await second.tick("wrong-secret")).toBe(401);
  });

  test("the claim of a frozen function is delivered once, at the first tick after its lease", async () => {
    const id = await postDeferred("Claimed");
    // The round after the response may still delete and count: the lock below would stop it, and the round
    // behind it.
    expect(await first.tick()).toBe(200);
    await place.makeDue();
    // The round claims the email and then waits to read its text, until the function is frozen.
    const { round } = await place.sql.begin(async (tx) => {
      await tx`lock table email_bodies in access exclusive mode`;
      const started = first.tick();
      await expect
        .poll(() => place.delivery(id), eventually)
        .toMatchObject({ status: "sending", stage: "claimed" });
      first.process.signal("SIGSTOP");
      return { round: started };
    });
    expect(await second.tick()).toBe(200);
    expect(place.copies()).toEqual([]);
    await place.expireLeases();
    expect(await second.tick()).toBe(200);
    expect(place.copies()).toEqual([`Claimed ${to}`]);
    first.process.signal("SIGCONT");
    await round;
    expect(await first.tick()).toBe(200);
    expect(place.copies()).toEqual([`Claimed ${to}`]);
    expect(await statusOf(id)).toBe("sent");
    expect(await place.unknowns()).toEqual([]);
  });

  // The last one ends the function.
  test.each(["SIGSTOP", "SIGKILL"] as const)(
    "an email is sent again after %s in its dialogue, with a recorded unknown outcome",
    async (signal) => {
      let answer = () => {};
      acts.message.push(
        new Promise<Act>((resolve) => {
          answer = () => resolve(PASS);
        }),
      );
      const id = await place.post(first, signal, [to]);
      await expect.poll(() => place.copies(), eventually).toHaveLength(1);
      first.process.signal(signal);
      answer();
      expect(await second.tick()).toBe(200);
      expect(place.copies()).toHaveLength(1);
      await place.expireLeases();
      expect(await second.tick()).toBe(200);
      expect(place.copies()).toEqual([`${signal} ${to}`, `${signal} ${to}`]);
      expect(await place.unknowns()).toContain(`${id} ${to}`);
      if (signal === "SIGSTOP") {
        first.process.signal("SIGCONT");
        expect(await first.tick()).toBe(200);
      }
      expect(await second.tick()).toBe(200);
      expect(place.copies()).toHaveLength(2);
      expect(await statusOf(id)).toBe("sent");
    },
  );
});

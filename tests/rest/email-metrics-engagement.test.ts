import { expect, test } from "vitest";
import { recordOutcome } from "#server/services/returns/record";
import { BROWSER, openTrackingWorld } from "../support/tracking-world";

const GMAIL_PROXY =
  "Mozilla/5.0 (Windows NT 5.1; rv:11.0) Gecko Firefox/11.0 (via ggpht.com GoogleImageProxy)";
const APPLE_PREFETCH = "Mozilla/5.0";
const SCANNER = "BarracudaCentral/1.0";

const tracking = await openTrackingWorld();

/** Sends an email that was delivered a minute ago: visits directly after sending are a scanner's. */
async function deliver(from: string) {
  tracking.peer.messages.length = 0;
  const sent = await tracking.deliver({ from });
  await tracking.later(sent.id);
  return sent;
}
const readTotals = async (query: string): Promise<Record<string, number>> => {
  const reply = await tracking.world.api("GET", `/api/emails/metrics${query}`, { token: tracking.token });
  expect(reply.status, reply.text).toBe(200);
  return reply.body.totals as Record<string, number>;
};
/** The counts follow the feed, which waits for open transactions of other tests in the cluster. */
const expectTotals = async (totals: Record<string, number>, more = "") => {
  const query = `?metrics=${Object.keys(totals).join(",")}${more}`;
  await expect.poll(() => readTotals(query), { timeout: 20_000 }).toEqual(totals);
};
async function report(emailId: string, effect: "bounced" | "complained") {
  const { hot, deps, ctx } = tracking.world;
  const [row] = await hot<{ id: string }[]>`select id from deliveries where email_id = ${emailId}`;
  const delivery = { teamId: ctx.teamId, emailId, id: row?.id ?? "" };
  const given = { reply: null, host: null, reason: "Reported.", suppresses: null };
  expect(await recordOutcome(deps, { ...given, delivery, report: effect, effect })).toBe("recorded");
}

test("opens and clicks of readers, by recipients who were tracked, then with a bounce and a complaint", async () => {
  const read = await deliver("ann@tracked.example");
  const prefetched = await deliver("ann@tracked.example");
  await deliver("ann@opens.example");
  await deliver("ann@plain.example");
  const returned = await deliver("ann@tracked.example");
  await expectTotals({ sent: 5, opened: 0, clicked: 0, open_rate: 0, click_rate: 0, complaint_rate: 0 });

  // Programs are not readers.
  for (const agent of [APPLE_PREFETCH, SCANNER]) {
    for (const { pixel } of [read, prefetched]) expect((await tracking.visit(pixel, agent)).status).toBe(200);
    expect((await tracking.visit(prefetched.click, agent)).status).toBe(302);
  }
  // A proxy fetches for its reader. Each of them counts once an hour.
  for (const agent of [GMAIL_PROXY, GMAIL_PROXY, BROWSER, BROWSER]) await tracking.visit(read.pixel, agent);
  await tracking.later(read.id, "61 minutes");
  await tracking.visit(read.pixel);
  for (let n = 0; n < 2; n++) await tracking.visit(read.click);
  expect((await tracking.visitsOf(read.id)).map(({ by }) => by)).toEqual([
    ...["prefetch", "scanner", "proxy", "reader", "reader", "reader"],
  ]);
  await expectTotals({
    opened: 3,
    unique_opened: 1,
    clicked: 1,
    unique_clicked: 1,
    // Of four recipients whose opens are tracked, and three whose clicks are.
    open_rate: 25,
    click_rate: 33.3333,
  });

  await report(returned.id, "bounced");
  await report(read.id, "complained");
  await expectTotals({
    sent: 5,
    delivered: 1,
    bounced: 1,
    complained: 1,
    bounce_rate: 20,
    // Of the four who did not bounce.
    complaint_rate: 25,
    unique_opened: 1,
    open_rate: 33.3333,
    click_rate: 50,
  });
  // The same numbers from the events of the emails themselves.
  const ids = [read, prefetched, returned].map(({ id }) => id).join(",");
  await expectTotals(
    { sent: 3, opened: 3, unique_opened: 1, open_rate: 50, click_rate: 50, complaint_rate: 50 },
    `&email_id=${ids}`,
  );
});

import { expect, test } from "vitest";
import { createKey } from "#server/services/keys/keys";
import { openConsole } from "../support/console/console";
import { createRoleTeam } from "../support/console/role-teams";

const console = await openConsole();
const ann = await createRoleTeam(console, "Compared");
const { token } = await createKey(ann.ctx, { name: "Reader", scopes: ["emails:read"], domains: "all" });
const send = (nth: number, names: string[]) =>
  console.world.send(
    {
      sender: "ann@backstamp.test",
      to: names.map((name) => `${name}@backstamp.test`),
      tags: [{ name: "nth", value: String(nth) }],
    },
    ann.ctx,
  );
const sent: string[] = [];
for (const [nth, names] of [
  ["delivered", "bounced", "complained"],
  ["delivered", "suppressed", "deferred"],
  ["delivered", "delivered+2"],
  ["complained", "bounced"],
].entries())
  sent.push((await send(nth, names)).id);
for (const [nth, at] of ["2026-02-27T23:59:00Z", "2026-02-28T00:00:00Z", "2026-03-01T23:59:00Z"].entries())
  await console.world.hot`update emails set created_at = ${at} where id = ${sent[nth] ?? ""}`;
await console.deliver();

type Numbers = Record<string, number | string | null>;
type Metrics = { totals: Record<string, number>; data?: Numbers[]; complete: boolean };
const METRICS = [
  ...[
    "received",
    "sent",
    "delivered",
    "bounced",
    "complained",
    "failed",
    "unknown",
    "suppressed",
    "canceled",
  ],
  ...["in_progress", "delivery_rate", "bounce_rate", "complaint_rate", "open_rate", "click_rate"],
];
const readApi = async (query: string): Promise<Metrics> => {
  const path = `/api/emails/metrics?metrics=${METRICS.join(",")}&${query}`;
  const reply = await console.world.api("GET", path, { token });
  expect(reply.status, reply.text).toBe(200);
  return reply.body as Metrics;
};

test.each([
  { what: "days", range: { range: "days", since: "2026-02-28", until: "2026-03-01" }, received: 5 },
  { what: "today", range: { range: "today" }, received: 2 },
  {
    what: "a tag",
    range: { range: "days", since: "2026-02-27", until: "2026-03-01", tag: "nth:1" },
    received: 3,
  },
] as const)("the overview and GET /api/emails/metrics have the same numbers: $what", async (example) => {
  const { range, received } = example;
  const caller = await console.callerAs(ann.userIds.viewer);
  const traffic = () => caller.overview.traffic({ team: ann.teamId, ...range });
  await expect.poll(async () => (await traffic()).total.received, { timeout: 20_000 }).toBe(received);
  const { total, spans, byProvider, byDomain, unit } = await traffic();
  const tags = await caller.overview.tags({ team: ann.teamId, ...range });
  const first = spans[0]?.at ?? "";
  const last = range.until ? new Date(Date.parse(range.until) + 86_400_000).toISOString() : "2090-01-01";
  const readAny = (more: string) => readApi(`start_date=${first}&end_date=${last}&${more}`);
  const tag = range.tag ? `tag=${range.tag}&` : "";
  const read = (more: string) => readAny(`${tag}${more}`);

  const byPeriod = await read(`dimensions=period&granularity=${unit === "hour" ? "hourly" : "daily"}`);
  const { metrics, bounced, complained, failed, unknown, suppressed, canceled, inProgress } = total;
  const { unique_opened: _, unique_clicked: __, ...rates } = metrics;
  expect(byPeriod.totals).toEqual({
    ...rates,
    ...{ received: total.received, bounced, complained, failed, unknown, suppressed, canceled },
    in_progress: inProgress,
  });
  expect(byPeriod.data?.map((row) => [row.bounced, row.in_progress, row.complaint_rate])).toEqual(
    spans.map((span) => [span.bounced, span.inProgress, span.complaint_rate]),
  );
  for (const [dimension, name, { rows }, readRows] of [
    ["provider", "provider", byProvider, read],
    ["domain", "domain_name", byDomain, read],
    // The table of tags ignores the filter by tag.
    ["tag", "tag", tags, readAny],
  ] as const) {
    const { data = [] } = await readRows(`dimensions=${dimension}`);
    const order = (pairs: [unknown, unknown, unknown][]) =>
      pairs.sort(([a], [b]) => (String(a) < String(b) ? -1 : 1));
    expect(order(data.map((row) => [row[name], row.received, row.bounce_rate])), dimension).toEqual(
      order(rows.map((row) => [row.name, row.received, row.metrics.bounce_rate])),
    );
  }
});

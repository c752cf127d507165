import { beforeEach, expect, test } from "vitest";
import { countNewEvents } from "#server/delivery/housekeeping/count-events";
import { resumeQueue } from "#server/services/pauses/pause";
import { cancelTeamDeletion, requestTeamDeletion } from "#server/services/team-deletions/request";
import { createAlertWorld } from "../../support/alert-world";
import { addSignedDomain } from "../../support/dkim-verifier";
import { forEachTest } from "../../support/fixtures";
import { fullReport } from "../returns/complaint-forms";

const world = forEachTest(() =>
  createAlertWorld({
    policy: { teamPause: { bounceShare: 0.1, complaintShare: 0.005 } },
  }),
);
let token: string;
beforeEach(async () => {
  ({ token } = await world.key());
});

const later = async (interval: string) => {
  await world.elapse(interval);
  await world.round();
};
const pauses = () =>
  world.hot<{ teamId: string; reason: string; actor: string }[]>`
    select team_id as "teamId", reason, actor from queue_pauses where lifted_at is null`;
const resume = () => resumeQueue(world.ctx, { teamId: world.id, domain: null });
const toBen = () => world.relay.messages.filter(({ to }) => to.includes("ben@example.net"));
const recipientOf = async (id: string) => {
  const { body } = await world.api("GET", `/api/emails/${id}`, { token });
  return (body as { recipients: Record<string, unknown>[] }).recipients[0];
};

test("a team above the operator's bounce rate is paused: its email is accepted and waits with the reason until an operator resumes it", async () => {
  const other = await world.otherTeam();
  await other.domain("other.example");
  await world.results({ delivered: 180, bounced: 21 });
  await world.round();
  const reason =
    "Bounce rate above the operator's limit of 10%: 10.4% of 201 recipients in the last 24 hours.";
  expect(await pauses()).toEqual([{ teamId: world.id, reason, actor: "alert" }]);

  const sent = await world.api("POST", "/api/emails", {
    token,
    body: { from: "ann@example.org", to: "ben@example.net", subject: "Hi", html: "<p>Hi</p>" },
  });
  expect(sent.status).toBe(200);
  await world.send({ sender: "Otto <otto@other.example>", to: ["kim@example.net"] }, other.ctx);
  await later("1 min");
  await world.deliver();
  expect(toBen()).toEqual([]);
  expect(world.relay.messages.filter(({ to }) => to.includes("kim@example.net"))).toHaveLength(1);
  expect(await recipientOf(String(sent.body.id))).toMatchObject({ status: "queued", attempts: 0 });
  const list = await world.api("GET", `/api/emails/${String(sent.body.id)}`, { token });
  expect(list.text).toContain("team_paused");
  expect(list.text).toContain("Bounce rate above");

  const emails = world.received();
  const subjects = emails.map(({ to, subject }) => `${to}: ${subject}`);
  expect(subjects).toContain("ann@example.net: 2 alerts at mail.example.com: 2 new");
  expect(subjects).toContain("olga@example.net: Alert: Team paused, First");
  const audit = await world.hot`select actor, action from audit_log where action like 'queue.%'`;
  expect(audit).toEqual([{ actor: "system", action: "queue.paused" }]);

  await resume();
  await world.deliver();
  expect(toBen()).toHaveLength(1);
  // The same old figures pause it no more.
  await later("10 min");
  expect(await pauses()).toEqual([]);

  // New bounces after the release do.
  await world.hot`update queue_pauses set lifted_at = lifted_at - interval '2 hours'`;
  await world.hot`update recipient_totals set starts_at = starts_at - interval '3 hours'`;
  await later("1 min");
  expect(await pauses()).toEqual([]);
  await world.results({ delivered: 200, bounced: 50 });
  await later("1 min");
  expect(await pauses()).toMatchObject([{ actor: "alert" }]);
});

test("complaints pause a team, too, and one domain counts with the others of its team", async () => {
  await world.results({ delivered: 2_000 });
  await world.results({ delivered: 500, complained: 9, domain: "second.example" });
  await world.round();
  expect(await pauses()).toEqual([]);
  await world.results({ complained: 5, domain: "second.example" });
  await later("1 min");
  expect(await pauses()).toMatchObject([
    {
      reason:
        "Complaint rate above the operator's limit of 0.5%: 0.56% of 2,500 recipients in the last 24 hours.",
    },
  ]);
});

test("forged complaints pause no team: a copy that several recipients have names any of them", async () => {
  await addSignedDomain(world, "signed.example");
  await world.results({ delivered: 1_000, domain: "signed.example" });
  const to = Array.from({ length: 12 }, (_, index) => `person${index}@example.net`);
  const { id } = await world.send({ sender: "Ann <ann@signed.example>", to });
  await world.deliver();
  const copy =
    world.relay.messages.find((message) => message.to.length === 12)?.bytes.toString("latin1") ?? "";
  const complain = async (report: string) => {
    const options = {
      token: world.deps.inboundToken ?? "",
      raw: report,
      headers: { "content-type": "message/rfc822" },
    };
    expect((await world.api("POST", "/api/inbound/message", options)).body).toMatchObject({ recorded: 1 });
  };
  const countAll = () =>
    expect
      .poll(
        async () => {
          await countNewEvents(world.withTransport(), () => true);
          const [row] = await world.hot`
            select count(*)::int as left from email_events e join metrics_progress p on p.team_id = e.team_id
            where (e.position, e.id) > (p.position, p.event_id)`;
          return row?.left;
        },
        { timeout: 20_000 },
      )
      .toBe(0);
  for (const address of to) await complain(fullReport(copy, address));
  await countAll();
  await later("1 min");
  expect(await pauses()).toEqual([]);
  for (const { id: delivery } of (await world.email(id)).deliveries)
    await complain(
      fullReport("Subject: x\n\nx\n", "", `${world.deps.recipientTokens.returnPath(delivery)}@b.example`),
    );
  await countAll();
  await later("1 min");
  expect(await pauses()).toMatchObject([{ reason: expect.stringContaining("Complaint rate") }]);
});

test("few recipients pause no team, and without a limit nothing does", async () => {
  await world.results({ delivered: 90, bounced: 100 });
  await world.round();
  expect(await pauses()).toEqual([]);
  await world.results({ delivered: 1_000, bounced: 1_000 });
  const none = {
    policy: { ...world.deps.policy, teamPause: { bounceShare: null, complaintShare: null } },
  };
  await world.elapse("1 min");
  await world.round(none);
  expect(await pauses()).toEqual([]);
});

test("a requested and canceled deletion does not reset the rates, and raises no alert of a pause", async () => {
  await world.results({ delivered: 180, bounced: 15 });
  await requestTeamDeletion(world.ctx, { confirm: "First" });
  await world.round();
  expect(await pauses()).toEqual([]);
  expect(await world.hot`select kind from alerts where kind = 'team_paused'`).toEqual([]);
  await cancelTeamDeletion(world.ctx);
  await world.results({ bounced: 6 });
  await later("1 min");
  expect(await pauses()).toMatchObject([{ actor: "alert" }]);
});

test("a pause of the operator stays as it is", async () => {
  await world.hot`insert into queue_pauses (id, team_id, reason, actor) values (uuid_v7(), ${world.id}, 'Invoice', 'operator')`;
  await world.results({ delivered: 200, bounced: 200 });
  await world.round();
  expect(await pauses()).toMatchObject([{ reason: "Invoice", actor: "operator" }]);
  expect(await world.hot`select kind from alerts where team_id is null`).toEqual([]);
});

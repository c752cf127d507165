import { expect, test, vi } from "vitest";
import { openTransport } from "#server/startup/worker";
import { forEachTest } from "../support/fixtures";
import { createGate } from "../support/gate";
import { deliverDue } from "../support/pump-engine";
import { PASS } from "../support/servers/smtp-test-server";
import { startTestInternet } from "../support/servers/test-internet";
import { createWorld } from "../support/world";

const eventually = { timeout: 60_000, interval: 50 };

const world = forEachTest(() => createWorld({ transportKind: "direct" }));
const internet = forEachTest(() =>
  startTestInternet({
    "quick.example": { mx: [[10, "mx.quick.example"]] },
    "mx.quick.example": { a: ["127.0.0.2"] },
    "slow.example": { a: ["127.0.0.3"] },
    "inside.example": { a: ["10.0.0.1"] },
  }),
);

test("a slow destination does not delay the recording of other destinations' results", async () => {
  const gate = createGate();
  const [quick, slow] = [
    await internet.serve("127.0.0.2"),
    await internet.serve("127.0.0.3", { greeting: () => gate.passed.then(() => PASS) }),
  ];
  const { id } = await world.send({ to: ["ann@quick.example", "ben@slow.example", "cy@quick.example"] });
  const statuses = async () => (await world.email(id)).deliveries.map(({ status }) => status);

  const round = deliverDue(world.withTransport(internet.transport()));
  await vi.waitFor(
    async () => expect(await statuses()).toEqual(["delivered", "sending", "delivered"]),
    eventually,
  );
  // Recipients of one destination share a transaction.
  expect(quick.messages).toMatchObject([{ to: ["ann@quick.example", "cy@quick.example"] }]);
  gate.open();
  await round;
  expect(await statuses()).toEqual(["delivered", "delivered", "delivered"]);
  expect(slow.messages).toHaveLength(1);
  expect(slow.messages[0]?.bytes.equals(quick.messages[0]?.bytes ?? Buffer.alloc(0))).toBe(true);
});

const again = () => world.hot`update deliveries set due_at = now() where status = 'queued'`;
const round = () => deliverDue(world.withTransport(internet.transport()));

test("a single wrong DNS response fails no email: a missing domain is final after two attempts", async () => {
  internet.zone["mended.example"] = { mx: [[10, "mx.missing.example"]] };
  internet.zone["null.example"] = { mx: [[0, "."]] };
  const peer = await internet.serve("127.0.0.2");
  const names = ["back", "gone", "mended", "null", "empty"].map((name) => `ann@${name}.example`);
  internet.zone["empty.example"] = { mx: [[10, "mx.missing.example"]] };
  const { id } = await world.send({ to: names });
  const results = async () =>
    (await world.email(id)).deliveries.map(({ status, attempts, lastReason }) => [
      status,
      attempts,
      lastReason,
    ]);

  await round();
  const recheck = "A second DNS query must confirm this before the delivery fails.";
  expect(await results()).toEqual([
    ["queued", 1, `The domain back.example does not exist. ${recheck}`],
    ["queued", 1, `The domain gone.example does not exist. ${recheck}`],
    ["queued", 1, `mx.missing.example has no address in DNS. ${recheck}`],
    ["failed", 1, "null.example does not accept email (null MX)."],
    ["queued", 1, `mx.missing.example has no address in DNS. ${recheck}`],
  ]);
  const { events } = await world.email(id);
  expect(events.filter(({ type }) => type === "email.failed")).toMatchObject([
    { recipient: "ann@null.example" },
  ]);
  expect(events.find(({ type }) => type === "email.delivery_delayed")?.data).toMatchObject({
    rule: "retry_schedule",
  });

  internet.zone["back.example"] = { a: ["127.0.0.2"] };
  internet.zone["mended.example"] = { a: ["127.0.0.2"] };
  await again();
  await round();
  expect((await results()).map(([status, attempts]) => [status, attempts])).toEqual([
    ["delivered", 2],
    ["failed", 2],
    ["delivered", 2],
    ["failed", 1],
    ["failed", 2],
  ]);
  expect((await results())[1]).toEqual(["failed", 2, "The domain gone.example does not exist."]);
  expect(peer.messages.flatMap(({ to }) => to).toSorted()).toEqual([
    "ann@back.example",
    "ann@mended.example",
  ]);
});

test("a DNS failure between two attempts resets the check of a missing domain", async () => {
  const { id } = await world.send({ to: ["ann@gone.example"] });
  const statuses: (string | undefined)[] = [];
  for (const fault of [undefined, "SERVFAIL", undefined, undefined] as const) {
    if (fault) internet.zone["gone.example"] = { fault };
    else delete internet.zone["gone.example"];
    await again();
    await round();
    statuses.push((await world.email(id)).deliveries[0]?.status);
  }
  expect(statuses).toEqual(["queued", "queued", "queued", "failed"]);
});

test("a CNAME to a host without MX receives email at that host, and only a null MX record rejects it", async () => {
  internet.zone["alias.example"] = { cname: "slow.example" };
  internet.zone["named.example"] = { cname: "quick.example" };
  internet.zone["null.example"] = { mx: [[0, "."]] };
  const [quick, slow] = [await internet.serve("127.0.0.2"), await internet.serve("127.0.0.3")];
  const { id } = await world.send({ to: ["ann@alias.example", "ben@named.example", "cy@null.example"] });
  await round();
  const { deliveries } = await world.email(id);
  expect(deliveries.map(({ status, lastHost }) => [status, lastHost])).toEqual([
    ["delivered", "alias.example"],
    ["delivered", "mx.quick.example"],
    ["failed", null],
  ]);
  expect(slow.messages.flatMap(({ to }) => to)).toEqual(["ann@alias.example"]);
  expect(quick.messages.flatMap(({ to }) => to)).toEqual(["ben@named.example"]);
});

test.each([
  ["mail.example.org", []],
  ["localhost", ["direct.unqualified_name"]],
])("with the EHLO host name %s the log has these warnings at startup: %j", async (name, warnings) => {
  const logged: string[] = [];
  const log = { ...world.deps.log, warn: (event: string) => void logged.push(event) };
  const settings = { smtpUrl: "direct:", hostname: name, mxPort: 25, smtpTimeLimits: {} };
  await openTransport(settings, { ...world.deps, log })?.close();
  expect(logged).toEqual(warnings);
});

test("a domain that enforces TLS sends nothing unencrypted to an MX host", async () => {
  await world.hot`update domains set tls = 'enforced' where name = 'example.org'`;
  const peer = await internet.serve("127.0.0.2", { starttls: "502 5.5.1 what?" });
  const { id } = await world.send({ to: ["ann@quick.example"] });
  await deliverDue(world.withTransport(internet.transport()));
  const [delivery] = (await world.email(id)).deliveries;
  expect(delivery).toMatchObject({ status: "queued", attempts: 1, waitRule: "retry_schedule" });
  expect(delivery?.lastReason).toContain("TLS");
  expect(peer.commands.filter((line) => /^(MAIL|RCPT|DATA)/.test(line))).toEqual([]);
});

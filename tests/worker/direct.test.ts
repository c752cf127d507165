import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { tick } from "#server/worker/tick";
import { type DirectWorld, openDirectWorld } from "../mail/direct-world";
import { type House, openHouse } from "../support/house";
import { killWorkers, spawnWorker } from "../support/worker-process";

const eventually = { timeout: 60_000, interval: 50 };

let house: House;
let world: DirectWorld;
beforeEach(async () => {
  house = await openHouse({ transportKind: "direct" });
  world = await openDirectWorld({
    "quick.example": { mx: [[10, "mx.quick.example"]] },
    "mx.quick.example": { a: ["127.0.0.2"] },
    "slow.example": { a: ["127.0.0.3"] },
    "inside.example": { a: ["10.0.0.1"] },
  });
});
afterEach(async () => {
  await killWorkers();
  await world.close();
  await house.close();
});

test("a server that keeps one destination waiting does not keep the others' results from being recorded", async () => {
  let release = (_reply: string) => {};
  const greeting = new Promise<string>((resolve) => {
    release = resolve;
  });
  const [quick, slow] = [
    await world.serve("127.0.0.2"),
    await world.serve("127.0.0.3", { greeting: () => greeting }),
  ];
  const { id } = await house.send({ to: ["ann@quick.example", "ben@slow.example", "cy@quick.example"] });
  const statuses = async () => (await house.email(id)).deliveries.map(({ status }) => status);

  const round = tick(house.withTransport(world.transport()), { budgetMs: 20_000 });
  await vi.waitFor(
    async () => expect(await statuses()).toEqual(["delivered", "sending", "delivered"]),
    eventually,
  );
  // Those of one destination share a transaction.
  expect(quick.messages).toMatchObject([{ to: ["ann@quick.example", "cy@quick.example"] }]);
  release("220 slow.example at last");
  await round;
  expect(await statuses()).toEqual(["delivered", "delivered", "delivered"]);
  expect(slow.messages).toHaveLength(1);
  expect(slow.messages[0]?.bytes.equals(quick.messages[0]?.bytes ?? Buffer.alloc(0))).toBe(true);
});

test("by SMTP_URL=direct: a worker finds the servers in DNS, keeps out of the network inside, and tells each fate", async () => {
  const peer = await world.serve("127.0.0.2", {
    rcpt: ({ address }) => (address.startsWith("gone") ? "550 5.1.1 no such user" : "250 ok"),
  });
  const to = ["ann@quick.example", "gone@quick.example", "ben@missing.example", "cy@inside.example"];
  const { id } = await house.send({ to });
  const worker = spawnWorker({
    databaseUrl: house.url,
    smtpUrl: "direct:",
    env: {
      POSTHORN_DNS_SERVERS: `127.0.0.1:${world.dns.port}`,
      POSTHORN_MX_PORT: String(world.port),
      POSTHORN_EGRESS_ALLOW: "127.0.0.0/8",
    },
  });
  const fates = async () =>
    (await house.email(id)).deliveries.map(({ status, lastHost }) => [status, lastHost]);
  await vi.waitFor(
    async () =>
      expect(await fates()).toEqual([
        ["delivered", "mx.quick.example"],
        ["bounced", "mx.quick.example"],
        ["queued", null],
        ["failed", null],
      ]),
    eventually,
  );
  const reasons = (await house.email(id)).deliveries.map(({ lastReason }) => lastReason);
  expect(reasons[2]).toBe(
    "There is no domain missing.example. DNS is asked once more before this mail is given up.",
  );
  expect(reasons[3]).toBe("inside.example has no address on the public Internet, only 10.0.0.1.");
  expect(peer.commands).toContain("EHLO worker.test");
  expect(worker.output()).not.toContain("transport.alarm");
  worker.signal("SIGTERM");
  await worker.exited;
});

const again = () => house.hot`update deliveries set due_at = now() where status = 'queued'`;
const round = () => tick(house.withTransport(world.transport()), { budgetMs: 20_000 });

test("one wrong answer of DNS fails no mail: what it says is missing is given up when two attempts saw it", async () => {
  world.zone["mended.example"] = { mx: [[10, "mx.missing.example"]] };
  world.zone["null.example"] = { mx: [[0, "."]] };
  const peer = await world.serve("127.0.0.2");
  const names = ["back", "gone", "mended", "null", "empty"].map((name) => `ann@${name}.example`);
  world.zone["empty.example"] = { mx: [[10, "mx.missing.example"]] };
  const { id } = await house.send({ to: names });
  const told = async () =>
    (await house.email(id)).deliveries.map(({ status, attempts, lastReason }) => [
      status,
      attempts,
      lastReason,
    ]);

  await round();
  const onceMore = "DNS is asked once more before this mail is given up.";
  expect(await told()).toEqual([
    ["queued", 1, `There is no domain back.example. ${onceMore}`],
    ["queued", 1, `There is no domain gone.example. ${onceMore}`],
    ["queued", 1, `mx.missing.example has no address in DNS. ${onceMore}`],
    ["failed", 1, "null.example says in DNS that it takes no mail (null MX)."],
    ["queued", 1, `mx.missing.example has no address in DNS. ${onceMore}`],
  ]);
  const { events } = await house.email(id);
  expect(events.filter(({ type }) => type === "email.failed")).toMatchObject([
    { recipient: "ann@null.example" },
  ]);
  expect(events.find(({ type }) => type === "email.delivery_delayed")?.data).toMatchObject({
    rule: "retry_schedule",
  });

  world.zone["back.example"] = { a: ["127.0.0.2"] };
  world.zone["mended.example"] = { a: ["127.0.0.2"] };
  await again();
  await round();
  expect((await told()).map(([status, attempts]) => [status, attempts])).toEqual([
    ["delivered", 2],
    ["failed", 2],
    ["delivered", 2],
    ["failed", 1],
    ["failed", 2],
  ]);
  expect((await told())[1]).toEqual(["failed", 2, "There is no domain gone.example."]);
  expect(peer.messages.flatMap(({ to }) => to).toSorted()).toEqual([
    "ann@back.example",
    "ann@mended.example",
  ]);
});

test("what one attempt saw missing and the next one could not tell has to be seen missing twice again", async () => {
  const { id } = await house.send({ to: ["ann@gone.example"] });
  const statuses: (string | undefined)[] = [];
  for (const fault of [undefined, "SERVFAIL", undefined, undefined] as const) {
    if (fault) world.zone["gone.example"] = { fault };
    else delete world.zone["gone.example"];
    await again();
    await round();
    statuses.push((await house.email(id)).deliveries[0]?.status);
  }
  expect(statuses).toEqual(["queued", "queued", "queued", "failed"]);
});

test("a domain that demands TLS sends nothing in clear to a recipient's server", async () => {
  await house.hot`update domains set tls = 'enforced' where name = 'example.org'`;
  const peer = await world.serve("127.0.0.2", { starttls: "502 5.5.1 what?" });
  const { id } = await house.send({ to: ["ann@quick.example"] });
  await tick(house.withTransport(world.transport()), { budgetMs: 20_000 });
  const [delivery] = (await house.email(id)).deliveries;
  expect(delivery).toMatchObject({ status: "queued", attempts: 1, waitRule: "retry_schedule" });
  expect(delivery?.lastReason).toContain("TLS");
  expect(peer.commands.filter((line) => /^(MAIL|RCPT|DATA)/.test(line))).toEqual([]);
});

import { expect, test } from "vitest";
import { forEachTest } from "../support/fixtures";
import { makeCertificate } from "../support/servers/certificate";
import { DROP, EHLO_STARTTLS } from "../support/servers/smtp-test-server";
import { startTestInternet } from "../support/servers/test-internet";
import { kinds, message, parsed, watch } from "./relay-world";

const internet = forEachTest(() =>
  startTestInternet({
    "example.net": {
      mx: [
        [20, "backup.example.net"],
        [10, "mx.example.net"],
      ],
    },
    "mx.example.net": { a: ["127.0.0.2"] },
    "backup.example.net": { a: ["127.0.0.3"] },
    "plain.example": { a: ["127.0.0.2"] },
    "both.example": { a: ["127.0.0.2", "127.0.0.3"] },
    "null.example": { mx: [[0, "."]] },
    "broken.example": { fault: "SERVFAIL" },
    "empty.example": { mx: [[10, "nowhere.example"]] },
  }),
);

const envelopes = (peer: { messages: { from: string; to: string[] }[] }) =>
  peer.messages.map(({ from, to }) => ({ from, to }));

test("an email goes to the most preferred MX host of each domain, in one transaction each", async () => {
  const [mx, backup] = [await internet.serve("127.0.0.2"), await internet.serve("127.0.0.3")];
  const to = ["ann@example.net", "ben@plain.example", "cy@example.net"];
  const outcomes = await internet.transport().deliver(message(), parsed(to), watch());
  expect(outcomes).toMatchObject([
    { recipient: to[0], kind: "accepted", host: "mx.example.net", reply: { code: 250 } },
    // Without an MX record the domain is its own mail server.
    { recipient: to[1], kind: "accepted", host: "plain.example" },
    { recipient: to[2], kind: "accepted", host: "mx.example.net" },
  ]);
  expect(envelopes(mx).toSorted((one, other) => one.to.length - other.to.length)).toEqual([
    { from: "bounce@example.com", to: [to[1]] },
    { from: "bounce@example.com", to: [to[0], to[2]] },
  ]);
  expect(mx.commands).toContain("EHLO sender.test");
  expect(backup.connections()).toBe(0);
});

test.each([
  ["closes the connection", { greeting: DROP }],
  ["permanently rejects the connection", { greeting: { bye: "554 go away" } }],
  ["breaks off before the message", { data: DROP }],
  ["sends the sender away", { mail: { bye: "421 4.3.2 shutting down" } }],
] as const)("if the first server %s, the next one is tried", async (_, script) => {
  const [mx, backup] = [await internet.serve("127.0.0.2", script), await internet.serve("127.0.0.3")];
  const outcomes = await internet.transport().deliver(message(), parsed(["ann@example.net"]), watch());
  expect(outcomes).toMatchObject([{ kind: "accepted", host: "backup.example.net" }]);
  expect(mx.connections()).toBeGreaterThan(0);
  expect(envelopes(backup)).toEqual([{ from: "bounce@example.com", to: ["ann@example.net"] }]);
});

test.each([
  ["421 4.7.0 Try again later", ["accepted", "deferred"], 1],
  ["421 4.4.2 Idle timeout", ["accepted", "accepted"], 2],
] as const)("%s on a reused connection: %j", async (bye, expected, connections) => {
  const mx = await internet.serve("127.0.0.2", { mail: ["250 ok", { bye }, "250 ok"] });
  const transport = internet.transport();
  const kindsSeen = [];
  for (const id of ["m1", "m2"]) {
    const [outcome] = await transport.deliver(message({ id }), parsed(["ann@plain.example"]), watch());
    kindsSeen.push(outcome?.kind);
  }
  expect(kindsSeen).toEqual(expected);
  expect(mx.connections()).toBe(connections);
});

test("if the first server objects to our rate, no other one is tried", async () => {
  await internet.serve("127.0.0.2", { greeting: { bye: "421 4.7.0 Too many connections" } });
  const backup = await internet.serve("127.0.0.3");
  const outcomes = await internet.transport().deliver(message(), parsed(["ann@example.net"]), watch());
  expect(outcomes).toMatchObject([{ kind: "deferred", reply: { code: 421 } }]);
  expect(backup.connections()).toBe(0);
});

test("an unreachable first server is skipped", async () => {
  await internet.serve("127.0.0.3");
  const outcomes = await internet.transport().deliver(message(), parsed(["ann@example.net"]), watch());
  expect(outcomes).toMatchObject([{ kind: "accepted", host: "backup.example.net" }]);
});

test("a reply about a recipient counts for the domain, and no other MX host is tried", async () => {
  const says = { ann: "250 ok", ben: "550 5.1.1 no such user", cy: "451 4.7.1 greylisted" } as const;
  await internet.serve("127.0.0.2", {
    rcpt: ({ address }) => says[address.split("@")[0] as keyof typeof says],
  });
  const backup = await internet.serve("127.0.0.3");
  const to = ["ann@example.net", "ben@example.net", "cy@example.net"];
  const outcomes = await internet.transport().deliver(message(), parsed(to), watch());
  expect(kinds(outcomes)).toEqual(["accepted", "rejected", "deferred"]);
  expect(backup.connections()).toBe(0);
});

test("a message that may have been accepted is unknown, and no other MX host is tried", async () => {
  await internet.serve("127.0.0.2", { message: DROP });
  const backup = await internet.serve("127.0.0.3");
  const outcomes = await internet.transport().deliver(message(), parsed(["ann@example.net"]), watch());
  expect(outcomes).toMatchObject([{ kind: "unknown", host: "mx.example.net" }]);
  expect(backup.connections()).toBe(0);
});

test.each([
  ["has no name", "missing.example", "rejected", "The domain missing.example does not exist."],
  ["has a null MX record", "null.example", "rejected", "null MX"],
  ["has servers without an address", "empty.example", "rejected", "nowhere.example has no address"],
  ["has a failing DNS lookup", "broken.example", "deferred", "The DNS lookup"],
])("email for a domain that %s causes no connection", async (_, domain, kind, reason) => {
  const [outcome] = await internet.transport().deliver(message(), parsed([`ann@${domain}`]), watch());
  expect(outcome).toMatchObject({ kind, reply: null, host: null });
  expect(outcome?.reason).toContain(reason);
  expect(outcome?.alarm).toBeUndefined();
  expect(outcome?.needsConfirmation === true).toBe(["missing.example", "empty.example"].includes(domain));
});

test("an address that the guard denies is not connected to, and a reachable one beside it is", async () => {
  const inside = await internet.serve("127.0.0.2");
  await internet.serve("127.0.0.3");
  const canConnectTo = (address: string) => address !== "127.0.0.2";
  const transport = internet.transport({ canConnectTo });
  expect(await transport.deliver(message(), parsed(["ann@example.net"]), watch())).toMatchObject([
    { kind: "accepted", host: "backup.example.net" },
  ]);
  expect(await transport.deliver(message(), parsed(["ann@plain.example"]), watch())).toMatchObject([
    { kind: "rejected", reason: expect.stringContaining("no public IP address") },
  ]);
  expect(await transport.deliver(message(), parsed(["ann@both.example"]), watch())).toMatchObject([
    { kind: "accepted", host: "both.example" },
  ]);
  expect(inside.connections()).toBe(0);
});

test("servers of equal preference are tried in random order", async () => {
  internet.zone["twin.example"] = {
    mx: [
      [10, "one.example"],
      [10, "two.example"],
    ],
  };
  internet.zone["one.example"] = { a: ["127.0.0.2"] };
  internet.zone["two.example"] = { a: ["127.0.0.3"] };
  await internet.serve("127.0.0.2");
  await internet.serve("127.0.0.3");
  const turns = [0.9, 0.1, 0.1, 0.9];
  const transport = internet.transport({ random: () => turns.shift() ?? 0 });
  const first = await transport.deliver(message(), parsed(["ann@twin.example"]), watch());
  const second = await transport.deliver(message(), parsed(["ann@twin.example"]), watch());
  const hosts = [first[0]?.host, second[0]?.host];
  expect(hosts.toSorted()).toEqual(["one.example", "two.example"]);
});

test("connections are reused for the next email to the same destination only", async () => {
  const [mx, other] = [await internet.serve("127.0.0.2"), await internet.serve("127.0.0.3")];
  internet.zone["other.example"] = { a: ["127.0.0.3"] };
  const transport = internet.transport();
  for (let nth = 0; nth < 3; nth += 1) {
    await transport.deliver(message({ id: `a${nth}` }), parsed(["ann@example.net"]), watch());
    await transport.deliver(message({ id: `b${nth}` }), parsed(["ann@other.example"]), watch());
  }
  expect([mx.messages.length, mx.connections()]).toEqual([3, 1]);
  expect([other.messages.length, other.connections()]).toEqual([3, 1]);
});

test("an IPv6 server is connected to", async () => {
  internet.zone["six.example"] = { aaaa: ["::1"] };
  const peer = await internet.serve("::1");
  const outcomes = await internet.transport().deliver(message(), parsed(["ann@six.example"]), watch());
  expect(kinds(outcomes)).toEqual(["accepted"]);
  expect(peer.messages).toHaveLength(1);
});

test("opportunistic TLS accepts any certificate, and falls back to plain text if TLS fails", async () => {
  const certificate = makeCertificate({ names: ["somebody-else.example"] });
  const mx = await internet.serve("127.0.0.2", { ehlo: EHLO_STARTTLS }, { certificate });
  const transport = internet.transport();
  expect(kinds(await transport.deliver(message(), parsed(["ann@example.net"]), watch()))).toEqual([
    "accepted",
  ]);
  expect(mx.commands).toContain("STARTTLS");

  const broken = await internet.serve("127.0.0.3", { ehlo: EHLO_STARTTLS, starttls: "454 4.7.0 not now" });
  internet.zone["broken-tls.example"] = { a: ["127.0.0.3"] };
  expect(kinds(await transport.deliver(message(), parsed(["ann@broken-tls.example"]), watch()))).toEqual([
    "accepted",
  ]);
  expect(broken.messages).toHaveLength(1);
});

test("after a lost lease or the end of the attempt no further server is tried", async () => {
  await internet.serve("127.0.0.2", { greeting: DROP });
  const backup = await internet.serve("127.0.0.3");
  const lost = await internet
    .transport()
    .deliver(message(), parsed(["ann@example.net"]), watch({ isLeaseValid: () => false }));
  expect(kinds(lost)).toEqual(["deferred"]);
  const ended = await internet
    .transport()
    .deliver(message(), parsed(["ann@example.net"]), watch({ signal: AbortSignal.abort() }));
  expect(ended).toMatchObject([{ kind: "deferred", reason: "The attempt was canceled." }]);
  expect(backup.connections()).toBe(0);
});

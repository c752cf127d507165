import { expect, test } from "vitest";
import { deleteOldRecords } from "#server/delivery/housekeeping/old-records";
import { evaluateAlerts } from "#server/services/alerts/evaluate";
import { createRoleTeam } from "../../support/console/role-teams";
import { publish } from "../../support/servers/zone";
import {
  daysAgo,
  dmarcXml,
  gz,
  isoDay,
  openReportWorld,
  plain,
  type TestFile,
  tlsJson,
  zip,
} from "./report-world";

const { console, hot, zone, ann, addDomain, reports, mail, submit, domain, verify } = await openReportWorld();

const NOTHING = { total: 0, ours: 0, oursUnaligned: 0, others: 0, othersUnaligned: 0, days: 0 };

test("the DMARC record of a domain sends reports to an address of its own return path", async () => {
  const oak = await addDomain("oak.example");
  expect(oak.address).toMatch(/^dmarc-[a-z2-7]{52}@send\.oak\.example$/);
  const dmarc = (await domain(oak.id)).records.find(({ purpose }) => purpose === "dmarc");
  expect(dmarc?.value).toBe(`v=DMARC1; p=none; rua=mailto:${oak.address};`);
  expect(await reports(oak.id)).toMatchObject({
    consentHost: null,
    isMxMissing: true,
    tlsRecord: { host: "_smtp._tls.oak.example", value: `v=TLSRPTv1; rua=mailto:${oak.address}` },
    last: null,
    shares: NOTHING,
    sources: [],
  });
});

test("what is signed with a key of the domain or sent from an address of direct delivery is ours", async () => {
  const elm = await addDomain("elm.example");
  await hot`insert into destination_states (source, destination, connections) values ('192.0.2.25', 'gmail.com', 20)`;
  const xml = dmarcXml("elm.example", [
    { ip: "192.0.2.25", count: 60, spf: "pass", mailFrom: "send.elm.example" },
    { ip: "198.51.100.7", count: 30, dkim: "pass", signed: ["elm.example", "backstamp"] },
    { ip: "192.0.2.25", count: 4 },
    { ip: "203.0.113.5", count: 3, dkim: "pass", signed: ["elm.example", "newsletters"] },
    { ip: "2001:db8:0:0::9", count: 2, mailFrom: "bulk.example" },
    { ip: "203.0.113.66", count: 1 },
  ]);
  expect(await mail(elm.address, zip(xml))).toMatch(/^250/);
  const { shares, sources, last } = await reports(elm.id);
  expect(shares).toEqual({ total: 100, ours: 90, oursUnaligned: 4, others: 3, othersUnaligned: 3, days: 1 });
  const lastDay = isoDay(daysAgo(1));
  expect(sources).toEqual([
    { source: "2001:db8::9", domains: ["bulk.example"], messages: 2, unaligned: 2, lastDay },
    { source: "203.0.113.66", domains: [], messages: 1, unaligned: 1, lastDay },
    { source: "203.0.113.5", domains: ["elm.example"], messages: 3, unaligned: 0, lastDay },
  ]);
  expect(last).toMatchObject({ kind: "dmarc", reporter: "receiver.example" });
});

test("reports are read from zip, gzip, XML, JSON and several files of one message", async () => {
  const ash = await addDomain("ash.example");
  const xml = (id: string) => dmarcXml("ash.example", [{ ip: "203.0.113.1", spf: "pass" }], { id });
  const tls = tlsJson("ash.example", 90, [
    { type: "certificate-expired", host: "mx1.ash.example", count: 6 },
    { type: "of-the-future", count: 4 },
  ]);
  const sets: TestFile[][] = [
    [zip(xml("a"))],
    [gz(xml("b"))],
    [plain(xml("c"))],
    [{ filename: "tls.json.gz", content: gz(tls).content }],
    [zip(xml("d"), xml("e")), plain(xml("f"))],
  ];
  for (const files of sets) expect(await mail(ash.address, ...files)).toMatch(/^250/);
  const { shares, tls: sessions, last } = await reports(ash.id);
  expect(shares).toMatchObject({ total: 6, others: 6 });
  expect(sessions).toEqual({
    sessions: 100,
    failed: 10,
    failures: [
      { type: "certificate-expired", host: "mx1.ash.example", sessions: 6 },
      { type: "other", host: "", sessions: 4 },
    ],
  });
  expect(last?.reporter).toBe("receiver.example");
});

test("the route for returned messages accepts reports, by the recipient in the header or the query", async () => {
  const fir = await addDomain("fir.example");
  const xml = (id: string) => dmarcXml("fir.example", [{ ip: "203.0.113.1" }], { id });
  expect(await submit(fir.address, [gz(xml("1"))])).toEqual({
    object: "inbound_message",
    kind: "aggregate",
    recorded: 1,
    ignored: [],
  });
  const query = `?recipient=${encodeURIComponent(fir.address.toUpperCase())}`;
  expect(await submit("postmaster@example.com", [gz(xml("2"))], query)).toMatchObject({ recorded: 1 });
  expect((await reports(fir.id)).shares.total).toBe(2);
});

test("a report counts once, however often and in whatever form it arrives", async () => {
  const yew = await addDomain("yew.example");
  const xml = dmarcXml("yew.example", [{ ip: "203.0.113.1", count: 5 }]);
  await Promise.all([mail(yew.address, zip(xml)), mail(yew.address, gz(xml)), mail(yew.address, plain(xml))]);
  expect(await submit(yew.address, [zip(xml, xml)])).toMatchObject({
    recorded: 0,
    ignored: [{ reason: "repeated" }, { reason: "repeated" }],
  });
  const other = dmarcXml("yew.example", [{ ip: "203.0.113.1", count: 5 }], { reporter: "second.example" });
  await mail(yew.address, gz(other));
  expect((await reports(yew.id)).shares.total).toBe(10);
});

test("an address without a valid token is rejected, and so is that of a report as a return path", async () => {
  const { address } = await addDomain("wrong.example");
  const xml = gz(dmarcXml("wrong.example", [{ ip: "203.0.113.1" }]));
  const [local = "", host = ""] = address.split("@");
  const last = local.endsWith("a") ? "b" : "a";
  for (const to of [
    `${local.slice(0, 20)}${last}${local.slice(21)}@${host}`,
    `dmarc-@${host}`,
    `${local.replace("dmarc-", "bounce-")}@${host}`,
    `postmaster@${host}`,
  ])
    expect(await mail(to, xml)).toMatch(/^550 5\.7\.1/);
});

test("a report changes only the domain of its address, and only if it is about it", async () => {
  const bob = await createRoleTeam(console, "Bob's");
  const ours = await addDomain("mine.example");
  const theirs = await addDomain("theirs.example", bob);
  // A team that added the name of another team's domain has an address of its own.
  const claimed = await addDomain("mine.example", bob);
  expect(claimed.address).not.toBe(ours.address);
  const xml = (name: string, from = name) => gz(dmarcXml(name, [{ ip: "203.0.113.1", from }]));
  expect(await submit(theirs.address, [xml("mine.example")])).toMatchObject({
    recorded: 0,
    ignored: [{ reason: "other_domain" }],
  });
  expect(await submit(ours.address, [xml("notmine.example")])).toMatchObject({
    ignored: [{ reason: "other_domain" }],
  });
  expect(await submit(ours.address, [xml("mine.example", "news.mine.example")])).toMatchObject({
    recorded: 1,
  });
  for (const { id } of [theirs, claimed]) expect((await reports(id, bob)).shares).toEqual(NOTHING);
  expect((await reports(ours.id)).shares.total).toBe(1);
  const foreign = await bob.call("viewer", "domains.reports", { id: ours.id });
  const missing = await bob.call("viewer", "domains.reports", { id: "0198c1f2-7a34-7c5e-9b0d-3f4a5b6c7d8e" });
  expect(foreign).toEqual(missing);

  await ann.data("admin", "domains.remove", { id: ours.id });
  expect(await mail(ours.address, xml("mine.example"))).toMatch(/^250/);
  expect(await submit(ours.address, [xml("mine.example")])).toMatchObject({
    ignored: [{ reason: "unknown" }],
  });
  expect([...(await hot`select from domain_report_counts where domain_id = ${ours.id}`)]).toEqual([]);
});

test("periods that are long ago or in the future are not recorded, and old reports are deleted", async () => {
  const { id, address } = await addDomain("old.example");
  const at = (begin: number) =>
    gz(dmarcXml("old.example", [{ ip: "203.0.113.1" }], { id: `${begin}`, begin }));
  for (const begin of [daysAgo(36), daysAgo(-3)])
    expect(await submit(address, [at(begin)])).toMatchObject({ ignored: [{ reason: "out_of_range" }] });
  for (const begin of [daysAgo(33), daysAgo(2)])
    expect(await submit(address, [at(begin)])).toMatchObject({ recorded: 1 });
  expect((await reports(id)).shares).toMatchObject({ total: 1, days: 1 });
  await hot`update domain_report_counts set day = day - 3 where domain_id = ${id}`;
  await hot`update domain_reports set received_at = received_at - interval '36 days' where domain_id = ${id} and ends_at < now() - interval '30 days'`;
  await deleteOldRecords(console.world.deps, () => true);
  const left = await hot`select day::text from domain_report_counts where domain_id = ${id}`;
  expect([...left]).toEqual([{ day: isoDay(daysAgo(5)) }]);
  expect(await hot`select from domain_reports where domain_id = ${id}`).toHaveLength(1);
});

test("a stricter policy is advised after two weeks of aligned email, one step at a time", async () => {
  const { id, address } = await addDomain("pine.example");
  publish(zone, (await domain(id)).records);
  zone.set("mail.backstamp.example", "A", "192.0.2.25");
  const policy = async (record: string) => {
    zone.set("_dmarc.pine.example", "TXT", record);
    await verify(id);
    return (await reports(id)).next;
  };
  const receive = (day: number, count: number, isAligned: boolean) => {
    const records = [{ ip: "203.0.113.1", count, dkim: isAligned ? ("pass" as const) : ("fail" as const) }];
    return mail(
      address,
      gz(dmarcXml("pine.example", records, { id: `${day} ${isAligned}`, begin: daysAgo(day) })),
    );
  };

  const rua = `rua=mailto:a@pine.example,mailto:${address};`;
  expect(await policy("v=DMARC1; p=none; rua=mailto:a@pine.example; sp=reject")).toMatchObject({
    host: "_dmarc.pine.example",
    record: `v=DMARC1; p=none; ${rua} sp=reject;`,
  });
  const published = `v=DMARC1; p=none; ${rua}`;
  expect(await policy(published)).toMatchObject({
    record: null,
    reason: expect.stringContaining("0 of 14 days"),
  });
  for (let day = 1; day <= 13; day++) await receive(day, 20, true);
  expect(await policy(published)).toMatchObject({
    record: null,
    reason: expect.stringContaining("13 of 14"),
  });
  await receive(14, 20, true);
  expect((await policy(published)).record).toBe(`v=DMARC1; p=quarantine; ${rua}`);
  expect((await policy(`v=DMARC1; p=quarantine; ${rua}`)).record).toBe(`v=DMARC1; p=reject; ${rua}`);
  expect((await policy(`v=DMARC1; p=reject; ${rua}`)).record).toBeNull();
  expect(await reports(id)).toMatchObject({ isMxMissing: false });

  await receive(1, 10, false);
  const { record, reason } = await policy(published);
  expect(record).toBeNull();
  expect(reason).toContain("96.5% of the reported messages are aligned");
});

test("a new source of unaligned email opens an alert, but a few forwarded messages do not", async () => {
  const { id, address } = await addDomain("alert.example");
  const receive = (ip: string, count: number, begin: number, dkim: "pass" | "fail" = "fail") =>
    mail(address, gz(dmarcXml("alert.example", [{ ip, count, dkim }], { id: `${ip} ${begin}`, begin })));
  const open = async () => {
    await evaluateAlerts(console.world.withTransport());
    return hot<{ kind: string; message: string }[]>`
      select kind, message from alerts where subject = ${id} and opened_at is not null and resolved_at is null`;
  };
  await receive("203.0.113.1", 49, daysAgo(1));
  await receive("203.0.113.2", 500, daysAgo(1), "pass");
  await receive("203.0.113.3", 500, daysAgo(20));
  await receive("203.0.113.3", 500, daysAgo(2));
  expect(await open()).toHaveLength(0);
  await receive("203.0.113.1", 1, daysAgo(2));
  const [alert] = await open();
  expect(alert).toMatchObject({ kind: "unaligned_source", message: expect.stringContaining("203.0.113.1") });
  expect(alert?.message).not.toContain("203.0.113.3");
  await hot`update domain_report_counts set day = day - 8 where domain_id = ${id} and source = '203.0.113.1'`;
  expect(await open()).toHaveLength(0);
});

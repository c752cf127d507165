import { afterAll, beforeEach, expect, test } from "vitest";
import type { DomainView } from "#server/trpc/domains/views";
import { openConsole } from "../support/console/console";
import { createRoleTeam } from "../support/console/role-teams";
import { relayTo } from "../support/relays";
import { passReturnPathDelay } from "../support/return-path";
import { publish, startZone } from "../support/servers/zone";

const names = { mailHost: "mail.backstamp.example", returnPathDomain: "bounces.example.com", webHost: null };
const { zone, peer } = await startZone();
afterAll(() => peer.close());
const console = await openConsole({ transportKind: "direct", names, dnsServers: [peer] });
const ann = await createRoleTeam(console, "Ann's");
beforeEach(() => {
  zone.clear();
  zone.set(names.mailHost, "A", "192.0.2.25");
});

const call = <T>(procedure: string, input: object) => ann.data<T>("admin", procedure, input);
const show = (id: string) => call<DomainView>("domains.get", { id });
async function verifiedDomain(name: string, dmarc: string): Promise<DomainView> {
  const { id } = await call<{ id: string }>("domains.add", { name });
  publish(zone, (await show(id)).records);
  zone.set(`_dmarc.${name}`, "TXT", dmarc);
  expect(await call("domains.verify", { id })).toEqual({ status: "verified" });
  return show(id);
}

test("the page says which return path email has, and whether SPF is aligned with it", async () => {
  const { id } = await call<{ id: string }>("domains.add", { name: "oak.example" });
  const before = (await show(id)).alignment.spf;
  expect(before).toMatch(/an address of bounces\.example\.com\. SPF is not aligned/);
  expect(before).toContain("send.oak.example as soon as a check finds the MX and SPF records");

  const { alignment } = await verifiedDomain("elm.example", "v=DMARC1; p=none;");
  expect(alignment.spf).toMatch(/^The return path is an address of send\.elm\.example\. SPF is aligned/);
});

test("a policy with aspf=s is not met by the return path below the domain", async () => {
  const { alignment } = await verifiedDomain("ash.example", "v=DMARC1; p=none; aspf=s");
  expect(alignment.spf).toMatch(/address of send\.ash\.example\. SPF is not aligned, because .*`aspf=s`/);
});

test("when the records are gone, the page says that the return path is the installation's again", async () => {
  const { id } = await verifiedDomain("fir.example", "v=DMARC1; p=none;");
  zone.remove("send.fir.example", "MX");
  await call("domains.verify", { id });
  await passReturnPathDelay(console.world.hot);
  const { alignment, records } = await show(id);
  expect(alignment.spf).toMatch(/address of bounces\.example\.com\. SPF is not aligned/);
  expect(records.find(({ purpose }) => purpose === "mx")).toMatchObject({ status: "failed" });
});

test("behind a relay, the return path is the installation's", async () => {
  const { id } = await verifiedDomain("yew.example", "v=DMARC1; p=none;");
  await relayTo(console.world.deps, { port: 2525 });
  expect((await show(id)).alignment.spf).toMatch(/address of bounces\.example\.com\. SPF is not aligned/);
});

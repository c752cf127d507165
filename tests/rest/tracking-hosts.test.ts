import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { recheckDomains } from "#server/services/domains/check/verify";
import { findDomain } from "#server/services/domains/read";
import { startMinute } from "../support/deps";
import { makeCertificate } from "../support/servers/certificate";
import { freePort } from "../support/servers/free-port";
import { startHttpSink } from "../support/servers/http-sink";
import { startZone } from "../support/servers/zone";
import { openTrackingWorld, TARGET } from "../support/tracking-world";

const ours = "mail.example.com";
const host = "go.tracked.example";
const later = "new.tracked.example";

const { zone, peer: nameServer } = await startZone();
const port = await freePort();
const certificate = makeCertificate({ names: [host, later] });
const tracking = await openTrackingWorld({
  publicUrl: `https://${ours}:${port}`,
  names: { mailHost: null, returnPathDomain: null, webHost: ours },
  dnsServers: [nameServer],
  outside: { allow: ["127.0.0.0/8"], nameServers: [nameServer], ca: [certificate.cert] },
});
const { world, token } = tracking;
let isProxyDown = false;
/** The operator's proxy, with a certificate for both hosts. */
const proxy = await startHttpSink(
  async ({ method, path, headers }) => {
    if (isProxyDown) return 502;
    const reply = await visitAt(headers.host, path, method);
    return { status: reply.status, headers: { "content-type": reply.headers["content-type"] ?? "" } };
  },
  { port, certificate },
);
afterAll(async () => {
  await proxy.close();
  await nameServer.close();
});

beforeEach(async () => {
  tracking.peer.messages.length = 0;
  tracking.dropMessages(false);
  isProxyDown = false;
  zone.clear();
  await change(null);
  await world.hot`delete from tracking_hosts`;
  // Beyond the time for which a process caches a host.
  world.clock.advance(60_000);
});

const visitAt = (at: string | undefined, path: string, method = "GET", key?: string) =>
  world.api(method, path, {
    headers: { host: at ?? "", "user-agent": "Mozilla/5.0 Firefox/140.0" },
    ...(key && { token: key }),
  });

/** Publishes the record that the domain's page lists, and the address to which it leads. */
function publishHost(name: string): void {
  zone.set(name, "CNAME", ours);
  zone.set(name, "A", "127.0.0.1");
}

async function change(label: string | null, name = "tracked.example"): Promise<void> {
  const { id } = await findDomain(world.ctx, name);
  const body = { tracking_subdomain: label };
  if (label === null)
    await world.hot`update domains set tracking_subdomain = null, tracking_host = null where id = ${id}`;
  else expect(await world.api("PATCH", `/api/domains/${id}`, { token, body })).toMatchObject({ status: 200 });
}

/** Runs the checks that are due, and returns the domain as the API shows it. */
async function recheck() {
  await recheckDomains(world.deps, 100);
  const { id } = await findDomain(world.ctx, "tracked.example");
  const { body } = await world.api("GET", `/api/domains/${id}`, { token });
  const checks = body.also_checked as { purpose: string; status: string; check: { fault: string | null } }[];
  return { used: body.tracking_host, https: checks.find(({ purpose }) => purpose === "tracking_https") };
}

async function useHost(label = "go"): Promise<void> {
  publishHost(`${label}.tracked.example`);
  await change(label);
  expect((await recheck()).used).toBe(`${label}.tracked.example`);
}

/** The hosts of the pixel and of the link in an email. */
const hostsIn = (html: string) =>
  ["opens", "clicks"].map((kind) => new RegExp(`"(https://[^/"]+)/api/${kind}/`).exec(html)?.[1]);
const at = (name: string) => [`https://${name}:${port}`, `https://${name}:${port}`];

describe("links and the pixel", () => {
  test("use the domain's host once its record is found and it serves links", async () => {
    await change("go");
    // Not published yet.
    expect(await recheck()).toEqual({ used: null, https: undefined });
    expect(hostsIn((await tracking.deliver()).html)).toEqual(at(ours));
    publishHost(host);
    await world.elapse("1 minute");
    expect(await recheck()).toMatchObject({ used: host, https: { status: "verified" } });
    tracking.peer.messages.length = 0;
    const { id, html, click, pixel } = await tracking.deliver({ list_unsubscribe: true });
    expect(hostsIn(html)).toEqual(at(host));
    expect(tracking.peer.messages[0]?.bytes.toString()).toContain(
      `<https://${ours}:${port}/api/unsubscribe/`,
    );
    await tracking.later(id);
    expect((await visitAt(`${host}:${port}`, pixel)).headers["content-type"]).toBe("image/gif");
    expect((await visitAt(host, click)).headers.location).toBe(TARGET);
    expect((await tracking.visitsOf(id)).map(({ type }) => type)).toEqual(["email.opened", "email.clicked"]);
    // Another domain of the team keeps the host of the installation.
    tracking.peer.messages.length = 0;
    const other = await tracking.deliver({ from: "ann@changing.example" });
    expect(hostsIn(other.html)).toEqual(at(ours));
  });

  test("keep the installation's host while the host does not serve links, and the check says why", async () => {
    isProxyDown = true;
    publishHost(host);
    await change("go");
    const failing = await recheck();
    expect(failing).toMatchObject({ used: null, https: { check: { fault: "links_not_served" } } });
    expect(JSON.stringify(failing.https)).toContain("status 502");
    expect(hostsIn((await tracking.deliver()).html)).toEqual(at(ours));
    isProxyDown = false;
    await world.elapse("1 minute");
    expect((await recheck()).used).toBe(host);
    // A name without a certificate is not used either.
    publishHost("none.tracked.example");
    await change("none");
    const untrusted = await recheck();
    expect(untrusted.used).toBeNull();
    expect(JSON.stringify(untrusted.https)).toContain("(tls)");
  });

  test("return to the installation's host when the record is gone, but not after a failed lookup", async () => {
    await useHost();
    zone.fail(host, { rcode: "SERVFAIL" });
    await world.elapse("1 day");
    expect((await recheck()).used).toBe(host);
    zone.fail(host, null);
    zone.remove(host, "CNAME");
    await world.elapse("1 day");
    expect((await recheck()).used).toBeNull();
    expect(hostsIn((await tracking.deliver()).html)).toEqual(at(ours));
  });

  test("are the same in all attempts of an email, also if the host changes in between", async () => {
    await useHost();
    tracking.dropMessages(true);
    await tracking.send();
    await tracking.round();
    await useHost("new");
    tracking.dropMessages(false);
    await world.elapse("30 minutes");
    await tracking.round();
    const [first, second] = tracking.peer.messages.map(({ bytes }) => bytes.toString());
    expect(second).toBe(first);
    tracking.peer.messages.length = 0;
    expect(hostsIn((await tracking.deliver()).html)).toEqual(at(later));
  });

  test("of email that was sent work at a former host", async () => {
    await useHost();
    const { click } = await tracking.deliver();
    await useHost("new");
    expect((await visitAt(host, click)).headers.location).toBe(TARGET);
    expect(await ask(host)).toBe(200);
  });

  test("never use more than ten hosts; the error names those that can be used again", async () => {
    const { id } = await findDomain(world.ctx, "tracked.example");
    await world.hot`
      insert into tracking_hosts (team_id, domain_id, host, seen_at)
      select ${world.id}, ${id}, 'go' || n || '.tracked.example', now() from generate_series(1, 10) n`;
    const body = { tracking_subdomain: "go11" };
    const reply = await world.api("PATCH", `/api/domains/${id}`, { token, body });
    expect(reply).toMatchObject({ status: 409, text: expect.stringContaining("go7.tracked.example") });
    await change("go7");
  });
});

describe("a tracking host", () => {
  test("serves nothing but links of its team", async () => {
    await useHost();
    const { id, click, pixel } = await tracking.deliver({ list_unsubscribe: true });
    const unsubscribe = /\/api\/unsubscribe\/[\w-]+/.exec(tracking.peer.messages[0]?.bytes.toString() ?? "");
    for (const path of ["/api/emails", "/api/health", "/api/openapi.json", "/api/none", `${unsubscribe}`])
      for (const name of [host, `${host}.:443`, host.toUpperCase()])
        expect({ path, name, ...(await visitAt(name, path, "GET", token)) }).toMatchObject({ status: 404 });
    expect((await visitAt(host, `${unsubscribe}`, "POST")).status).toBe(404);
    expect((await visitAt(ours, "/api/emails", "GET", token)).status).toBe(200);
    const other = await world.otherTeam();
    const copy = { teamId: other.id, emailId: id, deliveryId: id };
    const { recipientTokens } = world.deps;
    for (const link of [
      recipientTokens.clickLink(copy, "https://evil.example/"),
      recipientTokens.openLink(copy),
    ])
      expect((await visitAt(host, new URL(link).pathname)).status).toBe(404);
    expect((await visitAt(host, click)).status).toBe(302);
    expect((await visitAt(host, pixel)).status).toBe(200);
  });

  test("is that of the team which has its domain verified", async () => {
    await useHost();
    const { click } = await tracking.deliver();
    await world.hot`update domains set status = 'failed' where name = 'tracked.example'`;
    expect(await ask(host)).toBe(404);
    world.clock.advance(60_000);
    // Its email was sent.
    expect((await visitAt(host, click)).status).toBe(302);
    const other = await world.otherTeam();
    const { id } = await other.domain("tracked.example");
    await world.hot`
      insert into tracking_hosts (team_id, domain_id, host, seen_at) values (${other.id}, ${id}, ${host}, now())`;
    world.clock.advance(60_000);
    expect((await visitAt(host, click)).status).toBe(404);
    expect(await ask(host)).toBe(200);
    await world.hot`delete from domains where id = ${id}`;
    await world.hot`update domains set status = 'verified' where name = 'tracked.example'`;
  });
});

const ask = async (name: string): Promise<number> =>
  (await world.api("GET", `/api/tracking-hosts?domain=${name}`)).status;

describe("a proxy that asks for which names it may request certificates", () => {
  test("gets 200 only for hosts that were seen, of verified domains", async () => {
    await change("go");
    await recheck();
    expect(await ask(host)).toBe(404);
    publishHost(host);
    // A proxy obtains the certificate during the check.
    isProxyDown = true;
    await world.elapse("1 minute");
    await recheck();
    expect(await ask(host)).toBe(200);
    expect(await ask(host.toUpperCase())).toBe(200);
    // Another team claims a name that it does not own.
    const other = await world.otherTeam();
    const { id } = await other.domain("claimed.example", { verified: false });
    const { token: foreign } = await other.key();
    publishHost("go.claimed.example");
    const body = { tracking_subdomain: "go" };
    await world.api("PATCH", `/api/domains/${id}`, { token: foreign, body });
    await world.api("POST", `/api/domains/${id}/verify`, { token: foreign });
    for (const name of ["go.claimed.example", ours, "none.tracked.example", "tracked.example.evil.example"])
      expect([name, await ask(name)]).toEqual([name, 404]);
  });

  test("gets an error that names the parameter for anything else", async () => {
    for (const query of ["", "?domain=", "?domain=127.0.0.1", "?domain=localhost", "?domain=a_b.example.com"])
      expect(await world.api("GET", `/api/tracking-hosts${query}`)).toMatchObject({
        status: 422,
        text: expect.stringContaining("domain"),
      });
    expect((await world.api("GET", `/api/tracking-hosts?domain=${host}&x=1`)).status).toBe(422);
  });

  test("is limited, in a bucket of its own", async () => {
    world.clock.advance(60_000);
    startMinute(world.clock);
    const statuses = await Promise.all(Array.from({ length: 1_002 }, () => ask("none.tracked.example")));
    expect(statuses.filter((status) => status === 404)).toHaveLength(1_000);
    expect(statuses.filter((status) => status === 429)).toHaveLength(2);
    expect((await world.api("GET", "/api/health/none")).status).toBe(401);
  });
});

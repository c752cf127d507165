import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import type { IncomingMessage } from "node:http";
import { request } from "node:https";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, expect, test, vi } from "vitest";
import { createOutside } from "#server/platform/egress/outside";
import { silentLog } from "#server/platform/log";
import { recheckDomains } from "#server/services/domains/check/verify";
import { findDomain } from "#server/services/domains/read";
import { openHttpServer } from "#server/startup/http/node";
import { createRestApi } from "#server/startup/http/rest-endpoint";
import { startProcess } from "../../support/processes/processes";
import { callApi } from "../../support/rest";
import { freePort } from "../../support/servers/free-port";
import { startZone } from "../../support/servers/zone";
import { BROWSER, openTrackingWorld, TARGET } from "../../support/tracking-world";
import { prepareCaddy } from "./caddy";

const hasCaddy = spawnSync("which", ["caddy"]).status === 0;
const ours = "mail.example.com";
const host = "go.tracked.example";

const folder = mkdtempSync(path.join(tmpdir(), "backstamp-tracking-hosts-"));
const [port, plainPort] = [await freePort(), await freePort()];
const { zone, peer: nameServer } = await startZone();
const tracking = await openTrackingWorld({
  publicUrl: `https://${ours}:${port}`,
  trustedHops: 1,
  names: { mailHost: null, returnPathDomain: null, webHost: ours },
  dnsServers: [nameServer],
});
const { world, token } = tracking;
const server = await openHttpServer({
  host: "127.0.0.1",
  port: 0,
  apiHost: null,
  rest: Promise.resolve(createRestApi(world.deps)),
  pages: { request: async (_, outgoing) => void outgoing.end("a page"), upgrade: async () => {} },
  upgrades: false,
  log: silentLog,
});
afterAll(async () => {
  await server.close(1_000);
  await nameServer.close();
  rmSync(folder, { recursive: true, force: true });
});

/** One request over TLS, which trusts only the authority of Caddy. Rejects if the handshake fails. */
async function visit(name: string, target: string, ca: string) {
  const headers = { host: `${name}:${port}`, "user-agent": BROWSER };
  const outgoing = request({ port, path: target, servername: name, ca, headers, agent: false });
  outgoing.end();
  const [incoming] = (await once(outgoing, "response")) as [IncomingMessage];
  const text = Buffer.concat(await incoming.toArray()).toString();
  return { status: incoming.statusCode, location: incoming.headers.location, text };
}

test.runIf(hasCaddy)(
  "Caddy obtains the certificate of a host that was seen, and of no other one",
  async () => {
    const { args, env, readRoot } = prepareCaddy(folder, { port, plainPort, upstreamPort: server.port });
    const caddy = await startProcess("caddy", args, { env });
    try {
      await vi.waitFor(() => visit(ours, "/api/health", readRoot()), { timeout: 30_000, interval: 100 });
      const root = readRoot();
      const outside = { allow: ["127.0.0.0/8"], nameServers: [nameServer], ca: [root] };
      world.deps.outside = createOutside(outside);
      await expect(visit(host, "/login", root)).rejects.toThrow();

      zone.set(host, "CNAME", ours);
      zone.set(host, "A", "127.0.0.1");
      const { id } = await findDomain(world.ctx, "tracked.example");
      const change = { token, body: { tracking_subdomain: "go" } };
      expect((await world.api("PATCH", `/api/domains/${id}`, change)).status).toBe(200);
      // The check requests a link, and Caddy the certificate meanwhile.
      await recheckDomains(world.deps, 10);
      const { body } = await world.api("GET", `/api/domains/${id}`, { token });
      expect(body).toMatchObject({ tracking_host: host });

      const sent = await tracking.deliver();
      expect(sent.html).toContain(`https://${host}:${port}/api/clicks/`);
      await tracking.later(sent.id);
      expect(await visit(host, sent.click, root)).toMatchObject({ status: 302, location: TARGET });
      expect(await visit(host, sent.pixel, root)).toMatchObject({ status: 200 });
      expect(await tracking.visitsOf(sent.id)).toMatchObject([
        { type: "email.clicked", by: "reader", address: "127.0.0.1" },
        { type: "email.opened", by: "reader" },
      ]);

      expect(await visit(ours, "/login", root)).toMatchObject({ status: 200, text: "a page" });
      for (const target of ["/login", "/api/emails", "/api/health", "/api/trpc/live.changes"]) {
        expect({ target, ...(await visit(host, target, root)) }).toMatchObject({ status: 404 });
        // A proxy of the operator may pass on everything.
        const passed = await callApi(`http://127.0.0.1:${server.port}`, "GET", target, { headers: { host } });
        expect({ target, ...passed }).toMatchObject({ status: 404 });
      }
      for (const name of ["none.tracked.example", "go.other.example"])
        await expect(visit(name, sent.click, root)).rejects.toThrow();
    } finally {
      await caddy.stop("SIGTERM", 30_000);
    }
  },
  120_000,
);

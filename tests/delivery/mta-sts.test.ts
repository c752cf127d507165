import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { killWorkers, spawnWorker } from "../support/processes/worker-process";
import { type Certificate, makeAuthority, makeCertificate } from "../support/servers/certificate";
import { type HttpSink, type SinkReply, startHttpSink } from "../support/servers/http-sink";
import { EHLO_STARTTLS, type SmtpTestServer } from "../support/servers/smtp-test-server";
import { startTestInternet, type TestInternet, type Zone } from "../support/servers/test-internet";
import { createWorld, type World } from "../support/world";

/** The only port of policy hosts (RFC 8461 section 3.3). */
const httpsPort = 443;
/** Addresses of this process: other programs of this machine may have the port on theirs. */
const network = `127.${1 + ((process.pid >> 8) % 250)}.${1 + (process.pid % 250)}`;
const isOpen = await startHttpSink(() => 200, { host: `${network}.30`, port: httpsPort }).then(
  async (sink) => sink.close().then(() => true),
  () => false,
);
if (!isOpen)
  process.stdout.write(
    "NOT RUN: port 443 of loopback is not ours to open; no policy of MTA-STS is fetched.\n",
  );

const eventually = { timeout: 60_000, interval: 50 };
const authority = makeAuthority("An authority of our own");
const policy = (mode: string, mx: string): SinkReply => ({
  status: 200,
  headers: { "content-type": "text/plain" },
  body: `version: STSv1\r\nmode: ${mode}\r\nmx: ${mx}\r\nmax_age: 86400\r\n`,
});

/** A recipient's domain: the response of its policy host, and the certificate of its mail server. */
type Destination = {
  answer: SinkReply;
  isPolicyCertificateTrusted?: boolean;
  isMailCertificateTrusted?: boolean;
};
const DESTINATIONS: Record<string, Destination> = {
  "enforcing.example": { answer: policy("enforce", "mx.enforcing.example") },
  "doubtful.example": { answer: policy("enforce", "mx.doubtful.example"), isMailCertificateTrusted: false },
  "elsewhere.example": { answer: policy("enforce", "*.elsewhere.test") },
  "testing.example": { answer: policy("testing", "mx.nobody.example"), isMailCertificateTrusted: false },
  "unproved.example": {
    answer: policy("enforce", "mx.nobody.example"),
    isPolicyCertificateTrusted: false,
    isMailCertificateTrusted: false,
  },
  "moved.example": {
    answer: {
      status: 302,
      headers: { location: "https://mta-sts.elsewhere.example/.well-known/mta-sts.txt" },
    },
    isMailCertificateTrusted: false,
  },
};

let world: World;
let internet: TestInternet;
let folder: string;
let sinks: Map<string, HttpSink>;
let servers: Map<string, SmtpTestServer>;

/** The certificate of a name is signed by the test authority or self-signed. */
const certificateOf = (name: string, isTrusted = true): Certificate =>
  makeCertificate({ names: [name], ...(isTrusted && { issuer: authority }) });

async function open(): Promise<void> {
  world = await createWorld({ transportKind: "direct" });
  const zone: Zone = {};
  for (const [nth, domain] of Object.keys(DESTINATIONS).entries()) {
    zone[domain] = { mx: [[10, `mx.${domain}`]] };
    zone[`mx.${domain}`] = { a: [`${network}.${50 + nth}`] };
    zone[`_mta-sts.${domain}`] = { txt: ["v=STSv1; id=1;"] };
    zone[`mta-sts.${domain}`] = { a: [`${network}.${30 + nth}`] };
  }
  internet = await startTestInternet(zone);
  sinks = new Map();
  servers = new Map();
  for (const [nth, [domain, destination]] of Object.entries(DESTINATIONS).entries()) {
    const certificate = certificateOf(`mta-sts.${domain}`, destination.isPolicyCertificateTrusted);
    const place = { host: `${network}.${30 + nth}`, port: httpsPort, certificate };
    sinks.set(domain, await startHttpSink(() => destination.answer, place));
    const tls = { certificate: certificateOf(`mx.${domain}`, destination.isMailCertificateTrusted) };
    servers.set(domain, await internet.serve(`${network}.${50 + nth}`, { ehlo: EHLO_STARTTLS }, tls));
  }
  folder = mkdtempSync(join(tmpdir(), "backstamp-authority-"));
  writeFileSync(join(folder, "authority.pem"), authority.cert);
}

describe.runIf(isOpen)("a worker and MTA-STS policies with certificates of a test authority", () => {
  beforeEach(open);
  afterEach(async () => {
    await killWorkers();
    await Promise.all([...(sinks?.values() ?? [])].map((sink) => sink.close()));
    await internet?.close();
    await world?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  test("an enforced policy is applied, and one with an invalid certificate is ignored", {
    timeout: 120_000,
  }, async () => {
    const { id } = await world.send({ to: Object.keys(DESTINATIONS).map((domain) => `ann@${domain}`) });
    const worker = spawnWorker({
      databaseUrl: world.databaseUrl,
      smtpUrl: `direct:${internet.port}`,
      env: {
        NODE_EXTRA_CA_CERTS: join(folder, "authority.pem"),
        BACKSTAMP_DNS_SERVERS: `127.0.0.1:${internet.dns.port}`,
        BACKSTAMP_EGRESS_ALLOW: "127.0.0.0/8",
      },
    });
    const outcomes = async () =>
      Object.fromEntries(
        (await world.email(id)).deliveries.map(({ address, status, attempts }) => [
          address.replace("ann@", ""),
          [status, attempts],
        ]),
      );
    await vi.waitFor(
      async () =>
        expect(await outcomes(), worker.output()).toEqual({
          "enforcing.example": ["delivered", 1],
          "doubtful.example": ["queued", 1],
          "elsewhere.example": ["queued", 1],
          "testing.example": ["delivered", 1],
          "unproved.example": ["delivered", 1],
          "moved.example": ["delivered", 1],
        }),
      eventually,
    );
    const commandsOf = (domain: string) => servers.get(domain)?.commands.map((line) => line.split(" ")[0]);
    // TLS is used if it is offered. If the policy requires a valid certificate, MAIL is never sent without
    // one.
    for (const domain of ["enforcing.example", "testing.example", "unproved.example", "moved.example"])
      expect([domain, commandsOf(domain)]).toEqual([
        domain,
        expect.arrayContaining(["STARTTLS", "MAIL", "DATA"]),
      ]);
    expect(commandsOf("doubtful.example")).not.toContain("MAIL");
    expect(servers.get("elsewhere.example")?.connections()).toBe(0);

    const [asked, unproved] = ["enforcing.example", "unproved.example"].map(
      (each) => sinks.get(each)?.received,
    );
    expect(asked).toMatchObject([
      {
        method: "GET",
        path: "/.well-known/mta-sts.txt",
        serverName: "mta-sts.enforcing.example",
        headers: { host: "mta-sts.enforcing.example" },
      },
    ]);
    expect(unproved).toEqual([]);
    // The redirect pointed to it and was not followed.
    expect(sinks.get("elsewhere.example")?.received).toHaveLength(1);
    const reasons = new Map(
      (await world.email(id)).deliveries.map(({ address, lastReason }) => [address, lastReason]),
    );
    expect(reasons.get("ann@elsewhere.example")).toContain("MTA-STS policy of elsewhere.example");
    worker.signal("SIGTERM");
    await worker.exited;
  });
});

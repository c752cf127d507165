import { createHash, X509Certificate } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { startUnbound, unboundMissing, type ValidatedZone } from "../support/processes/unbound";
import { killWorkers, spawnWorker } from "../support/processes/worker-process";
import { type Certificate, makeAuthority, makeCertificate } from "../support/servers/certificate";
import { type HttpSink, type SinkReply, startHttpSink } from "../support/servers/http-sink";
import { EHLO_STARTTLS, type SmtpTestServer } from "../support/servers/smtp-test-server";
import { startTestInternet, type TestInternet } from "../support/servers/test-internet";
import { createWorld, type World } from "../support/world";

/** The only port of policy hosts (RFC 8461 section 3.3). */
const httpsPort = 443;
/** Addresses of this process: other programs of this machine may have the port on theirs. */
const network = `127.${1 + ((process.pid >> 8) % 250)}.${1 + (process.pid % 250)}`;
const missing =
  unboundMissing ??
  (await startHttpSink(() => 200, { host: `${network}.30`, port: httpsPort }).then(
    async (sink) => sink.close().then(() => null),
    () => "port 443 of loopback is not ours to open",
  ));
if (missing) process.stdout.write(`NOT RUN: ${missing}; DANE and MTA-STS are not tested.\n`);

const eventually = { timeout: 60_000, interval: 50 };
const authority = makeAuthority("An authority of our own");
/** Publishes the root of a certificate authority that nobody else trusts. */
const privateAuthority = makeAuthority("A private authority");
const policy = (mode: string, mx: string): SinkReply => ({
  status: 200,
  headers: { "content-type": "text/plain" },
  body: `version: STSv1\r\nmode: ${mode}\r\nmx: ${mx}\r\nmax_age: 86400\r\n`,
});

/** The data of a TLSA record with SHA-256 of the key. */
const keyRecord = (usage: number, { cert }: Certificate): string => {
  const key = new X509Certificate(cert).publicKey.export({ type: "spki", format: "der" });
  return `${usage} 1 1 ${createHash("sha256").update(key).digest("hex")}`;
};
const otherKey = `3 1 1 ${"ab".repeat(32)}`;
const forgedKey = `3 1 1 ${"cd".repeat(32)}`;

/** A recipient's domain: its DNS, the certificate of its MX host, and the response of its policy host. */
type Destination = {
  zone?: "bogus" | "unsigned";
  /** Who issued the certificate of the MX host. Default: itself. */
  issuer?: Certificate;
  name?: string;
  hasNoTls?: boolean;
  tlsa?: (certificate: Certificate) => string;
  sts?: SinkReply;
  isPolicyCertificateUntrusted?: boolean;
  /** Whether the email arrives, and text of its reason. */
  expected: ["delivered" | "queued", string];
  /** The same if the sending domain requires verified TLS. */
  verified: ["delivered" | "queued", string];
};
const same = (...expected: Destination["expected"]) => ({ expected, verified: expected });
const onlyOpportunistic = {
  expected: ["delivered", "over TLS 1.3, not verified"],
  verified: ["queued", "The sending domain requires verified TLS"],
} satisfies Partial<Destination>;

const DESTINATIONS: Record<string, Destination> = {
  key: {
    tlsa: (certificate) => keyRecord(3, certificate),
    name: "other.example",
    ...same("delivered", "over TLS 1.3, verified by DANE"),
  },
  "private-authority": {
    tlsa: () => keyRecord(2, privateAuthority),
    issuer: privateAuthority,
    ...same("delivered", "verified by DANE"),
  },
  misnamed: {
    tlsa: () => keyRecord(2, privateAuthority),
    issuer: privateAuthority,
    name: "other.example",
    ...same("queued", "matches none of its TLSA records"),
  },
  // DANE takes precedence over a policy that the server complies with.
  wrong: {
    tlsa: () => otherKey,
    issuer: authority,
    sts: policy("enforce", "*.wrong.signed.example"),
    ...same("queued", "matches none of its TLSA records"),
  },
  stripped: {
    tlsa: (certificate) => keyRecord(3, certificate),
    hasNoTls: true,
    ...same("queued", "publishes TLSA records (DANE)"),
  },
  // Usage 1 does not apply to SMTP: encryption only.
  unusable: { tlsa: () => otherKey.replace("3", "1"), ...onlyOpportunistic },
  forged: {
    tlsa: () => forgedKey,
    ...same("queued", "The DNS lookup of the TLSA records (DANE) of mx.forged.signed.example failed."),
  },
  bogus: { zone: "bogus", issuer: authority, ...same("queued", "The DNS lookup of the MX records") },
  unsigned: { zone: "unsigned", tlsa: () => otherKey, ...onlyOpportunistic },
  "no-record": onlyOpportunistic,
  plain: {
    hasNoTls: true,
    expected: ["delivered", "accepted the email without TLS."],
    verified: ["queued", "The sending domain requires verified TLS"],
  },
  certified: {
    issuer: authority,
    expected: ["delivered", "not verified"],
    verified: ["delivered", "over TLS 1.3, verified by its certificate"],
  },
  enforcing: {
    issuer: authority,
    sts: policy("enforce", "mx.enforcing.signed.example"),
    ...same("delivered", "verified by MTA-STS"),
  },
  doubtful: {
    sts: policy("enforce", "mx.doubtful.signed.example"),
    ...same("queued", "The MTA-STS policy of doubtful.signed.example requires a certificate"),
  },
  elsewhere: {
    issuer: authority,
    sts: policy("enforce", "*.elsewhere.test"),
    ...same("queued", "The MTA-STS policy of elsewhere.signed.example does not list"),
  },
  testing: { sts: policy("testing", "mx.nobody.example"), ...onlyOpportunistic },
  unproved: {
    sts: policy("enforce", "mx.nobody.example"),
    isPolicyCertificateUntrusted: true,
    ...onlyOpportunistic,
  },
  moved: {
    sts: {
      status: 302,
      headers: { location: "https://mta-sts.elsewhere.signed.example/.well-known/mta-sts.txt" },
    },
    ...onlyOpportunistic,
  },
};
const domainOf = (name: string) => `${name}.${DESTINATIONS[name]?.zone ?? "signed"}.example`;

let world: World;
let internet: TestInternet;
let folder: string;
let sinks: Map<string, HttpSink>;
let servers: Map<string, SmtpTestServer>;
let names: Awaited<ReturnType<typeof startUnbound>>;

async function open(): Promise<void> {
  world = await createWorld({ transportKind: "direct" });
  internet = await startTestInternet({});
  sinks = new Map();
  servers = new Map();
  const records: Record<"signed" | "bogus" | "unsigned", string[]> = { signed: [], bogus: [], unsigned: [] };
  for (const [nth, [name, destination]] of Object.entries(DESTINATIONS).entries()) {
    const { zone = "signed", tlsa, sts, issuer, hasNoTls } = destination;
    const [mail, policyHost] = [`${network}.${100 + nth}`, `${network}.${30 + nth}`];
    const made = makeCertificate({ names: [destination.name ?? `mx.${domainOf(name)}`], issuer });
    const certificate = { ...made, cert: made.cert + (issuer?.cert ?? "") };
    records[zone].push(`${name} MX 10 mx.${name}`, `mx.${name} A ${mail}`);
    if (tlsa) records[zone].push(`_${internet.port}._tcp.mx.${name} TLSA ${tlsa(made)}`);
    const script = hasNoTls ? { starttls: "502 5.5.1 what?" } : { ehlo: EHLO_STARTTLS };
    servers.set(name, await internet.serve(mail, script, { certificate }));
    if (!sts) continue;
    records[zone].push(`_mta-sts.${name} TXT "v=STSv1; id=1;"`, `mta-sts.${name} A ${policyHost}`);
    const trusted = destination.isPolicyCertificateUntrusted ? undefined : authority;
    const ofPolicy = makeCertificate({ names: [`mta-sts.${domainOf(name)}`], issuer: trusted });
    const place = { host: policyHost, port: httpsPort, certificate: ofPolicy };
    sinks.set(name, await startHttpSink(() => sts, place));
  }
  const zones = Object.entries(records).map(([state, own]): [string, ValidatedZone] => [
    `${state}.example`,
    {
      state: state as keyof typeof records,
      records: own,
      forge: (zone) => zone.replace("cd".repeat(32), "ef".repeat(32)),
    },
  ]);
  names = await startUnbound(["127.0.0.1", "127.0.0.11"], Object.fromEntries(zones));
  folder = mkdtempSync(join(tmpdir(), "backstamp-authority-"));
  writeFileSync(join(folder, "authority.pem"), authority.cert);
}

const startWorker = (nameServer = "127.0.0.1", env: Record<string, string> = {}) =>
  spawnWorker({
    databaseUrl: world.databaseUrl,
    smtpUrl: `direct:${internet.port}`,
    env: {
      NODE_EXTRA_CA_CERTS: join(folder, "authority.pem"),
      BACKSTAMP_DNS_SERVERS: `${nameServer}:${names.port}`,
      BACKSTAMP_EGRESS_ALLOW: "127.0.0.0/8",
      ...env,
    },
  });

const setTls = (tls: string) => world.hot`update domains set tls = ${tls} where name = 'example.org'`;

/** Sends to these destinations. Returns status and reason of each after its first attempt. */
async function send(worker: ReturnType<typeof startWorker>, destinations: string[]) {
  const { id } = await world.send({ to: destinations.map((name) => `ann@${domainOf(name)}`) });
  const listAttempted = async () => (await world.email(id)).deliveries;
  await vi.waitFor(async () => {
    for (const { attempts, status } of await listAttempted())
      expect([attempts, status], worker.output()).toEqual([1, expect.stringMatching(/^(queued|delivered)$/)]);
  }, eventually);
  const { events } = await world.email(id);
  return Object.fromEntries(
    (await listAttempted()).map(({ address, status }, nth) => {
      const event = events.find(({ recipient, data }) => recipient === address && data.reason);
      return [destinations[nth] ?? "", [status, event?.data.reason]];
    }),
  );
}

const expectedOf = (key: "expected" | "verified") =>
  Object.fromEntries(
    Object.entries(DESTINATIONS).map(([name, { [key]: expected }]) => [
      name,
      [expected[0], expect.stringContaining(expected[1])],
    ]),
  );

describe.runIf(missing === null)("a worker with a validating name server and policies over HTTPS", () => {
  beforeAll(open);
  afterEach(killWorkers);
  afterAll(async () => {
    await Promise.all([...(sinks?.values() ?? [])].map((sink) => sink.close()));
    await Promise.all([internet?.close(), names?.close(), world?.close()]);
    rmSync(folder, { recursive: true, force: true });
  });

  test("sends only to servers that DANE, MTA-STS and the sending domain allow, and says what proved them", {
    timeout: 180_000,
  }, async () => {
    const worker = startWorker();
    expect(await send(worker, Object.keys(DESTINATIONS))).toEqual(expectedOf("expected"));
    const commandsOf = (name: string) => servers.get(name)?.commands.map((line) => line.split(" ")[0]) ?? [];
    for (const [name, { expected, hasNoTls }] of Object.entries(DESTINATIONS)) {
      const sent = commandsOf(name).filter((verb) => verb === "MAIL" || verb === "DATA");
      expect([name, sent]).toEqual([name, expected[0] === "delivered" ? ["MAIL", "DATA"] : []]);
      if (expected[0] === "delivered" && !hasNoTls) expect(commandsOf(name)).toContain("STARTTLS");
    }
    for (const name of ["forged", "bogus", "elsewhere"])
      expect([name, servers.get(name)?.connections()]).toEqual([name, 0]);
    expect(sinks.get("enforcing")?.received).toMatchObject([
      {
        method: "GET",
        path: "/.well-known/mta-sts.txt",
        serverName: "mta-sts.enforcing.signed.example",
        headers: { host: "mta-sts.enforcing.signed.example" },
      },
    ]);
    expect(sinks.get("unproved")?.received).toEqual([]);
    // The redirect pointed to it and was not followed.
    expect(sinks.get("elsewhere")?.received).toHaveLength(1);

    await setTls("verified");
    expect(await send(worker, Object.keys(DESTINATIONS))).toEqual(expectedOf("verified"));
    await setTls("opportunistic");
    worker.signal("SIGTERM");
    await worker.exited;
  });

  test.each([
    ["127.0.0.11", {}, "delivered"],
    ["127.0.0.11", { BACKSTAMP_DNSSEC: "1" }, "queued"],
    ["127.0.0.1", { BACKSTAMP_DNSSEC: "0" }, "delivered"],
  ] as const)("trusts the validation of %s with %j only if it may: %s", async (nameServer, env, status) => {
    const results = await send(startWorker(nameServer, env), ["stripped"]);
    expect(results.stripped?.[0]).toBe(status);
  });
});

import { writeFile } from "node:fs/promises";
import path from "node:path";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { TICK_WORKER_ID, workers } from "#db/schema/deliveries";
import { reverseNameOf } from "#server/mail/dns/reverse-name";
import { newId } from "#server/platform/ids";
import { closeAfterTest, forAllTests } from "../support/fixtures";
import { runCommand } from "../support/processes/command-line";
import { relayTo } from "../support/relays";
import { startRest } from "../support/rest";
import { makeCertificate } from "../support/servers/certificate";
import { addressRecords, type DnsScript, startDnsTestServer } from "../support/servers/dns-test-server";
import { EHLO_AUTH, startSmtpTestServer } from "../support/servers/smtp-test-server";
import { createWorld } from "../support/world";
import { emptyFolder, runDoctor } from "./doctor";

const world = forAllTests(() => createWorld({ transportKind: "none" }));

const wait = { timeout: 60_000 };

const doctor = (env: Record<string, string> = {}) => runDoctor(world, env);

/** Every fault says what to do, and the exit code is that of the most severe finding. */
function expectAdvice({ code, report }: Awaited<ReturnType<typeof doctor>>): void {
  for (const { status, message, advice } of report.findings) {
    expect(message).toMatch(/^[A-Z0-9].*\.$/s);
    if (status === "error" || status === "warning") expect(advice).toMatch(/^[A-Z].*\.?$/s);
    else expect(advice).toBeNull();
  }
  const has = (status: string) => report.findings.some((finding) => finding.status === status);
  expect(code).toBe(has("error") ? 2 : has("warning") ? 1 : 0);
}

const smtp = async (...args: Parameters<typeof startSmtpTestServer>) =>
  closeAfterTest(await startSmtpTestServer(...args));

async function dns(script: DnsScript): Promise<string> {
  const server = closeAfterTest(await startDnsTestServer(script));
  return `${server.host}:${server.port}`;
}

const beat = (id = newId()) =>
  world.deps.db.insert(workers).values({ id, host: "test", pid: 1, transport: "relay" });

test("a read replica that is none is a warning", wait, async () => {
  await beat();
  onTestFinished(async () => void (await world.hot`delete from workers`));
  const done = await doctor({ DATABASE_URL_REPLICA: world.databaseUrl });
  expectAdvice(done);
  expect(done.of("database")).toEqual([
    expect.objectContaining({ status: "warning", message: expect.stringContaining("no streaming replica") }),
  ]);
});

test("a sound installation has no fault, and the exit code is 0", wait, async () => {
  const relay = await smtp({ ehlo: EHLO_AUTH, auth: "235 welcome" });
  const names = await dns(({ type }) => (type === "A" ? {} : null));
  await beat();
  onTestFinished(async () => void (await world.hot`delete from workers`));
  const done = await doctor({
    SMTP_URL: `smtp://user:secret-word@127.0.0.1:${relay.port}`,
    BACKSTAMP_DNS_SERVERS: names,
  });
  expectAdvice(done);
  const { of, report } = done;
  expect(report.findings.filter(({ status }) => status === "error" || status === "warning")).toEqual([
    // The test's domain is declared verified, and has no records.
    expect.objectContaining({ check: "domains", subject: "example.org", status: "warning" }),
  ]);
  expect(of("database")[0]?.message).toMatch(/^PostgreSQL \d+.* responded in \d+ ms/);
  expect(of("smtp")).toMatchObject([{ subject: "SMTP_URL", status: "ok" }]);
  expect(relay.commands.some((line) => line.startsWith("AUTH"))).toBe(true);
  expect(relay.commands.some((line) => line.startsWith("MAIL"))).toBe(false);
  expect(of("proxy")).toMatchObject([{ status: "ok" }]);
  expect(done.stdout).not.toContain("secret-word");
});

test("without --json each finding is a line, with what to do below it", wait, async () => {
  const { settings } = await doctor();
  const { stdout, code } = await runCommand(["doctor"], { env: settings });
  expect(code).toBe(2);
  expect(stdout).toMatch(/^ok +settings +All settings are valid\.$/m);
  expect(stdout).toMatch(/^ERROR +smtp +Outgoing email is not configured\.\n +To do: Set SMTP_URL/m);
  expect(stdout).toMatch(/^Errors: \d+\. Warnings: \d+\. Ok: \d+\. Not checked: \d+\.$/m);
});

test("without the database everything else is still checked, each within its time", wait, async () => {
  const relay = await smtp();
  const done = await doctor({
    DATABASE_URL: "postgres://nobody@127.0.0.1:1/none",
    SMTP_URL: `smtp://127.0.0.1:${relay.port}`,
  });
  expectAdvice(done);
  expect(done.of("database")).toMatchObject([
    { status: "error", message: expect.stringContaining("not reachable") },
  ]);
  for (const check of ["schema", "clock", "disk", "backups", "secret", "workers", "domains"])
    expect(done.of(check)).toMatchObject([{ status: "not_checked" }]);
  expect(done.of("smtp")[0]).toMatchObject({ subject: "SMTP_URL", status: "ok" });
});

test("settings that production rejects are a finding, and the rest is checked", wait, async () => {
  const done = await doctor({ BACKSTAMP_URL: "" });
  expect(done.of("settings")).toMatchObject([
    { status: "error", message: expect.stringContaining("BACKSTAMP_URL") },
  ]);
  expect(done.of("database")).toMatchObject([{ status: "ok" }]);
  expect(done.of("proxy")).toMatchObject([{ status: "not_checked" }]);
});

test("a schema that lacks a migration is an error with the command that migrates", wait, async () => {
  await world.hot`update drizzle.__drizzle_migrations set created_at = created_at - 1`;
  onTestFinished(
    async () => void (await world.hot`update drizzle.__drizzle_migrations set created_at = created_at + 1`),
  );
  expect((await doctor()).of("schema")).toMatchObject([
    { status: "error", advice: expect.stringMatching(/-- migrate/) },
  ]);
});

test.each([
  // The clock stands still, so the difference shrinks while the doctor works. Two seconds of it are allowed.
  [50_000, "warning", "ahead of"],
  [-3_600_000, "error", "behind"],
])("a clock that differs by %i ms is a %s", wait, async (aheadMs, status, word) => {
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + aheadMs });
  onTestFinished(() => void vi.useRealTimers());
  const [finding] = (await doctor()).of("clock");
  expect(finding).toMatchObject({ status, message: expect.stringContaining(word) });
});

test(
  "another secret than the one of the stored texts is an error, and the right one is not",
  wait,
  async () => {
    const relay = await smtp();
    const { id } = await relayTo(world.deps, relay);
    onTestFinished(async () => void (await world.hot`delete from relays where id = ${id}`));
    expect((await doctor()).of("secret")).toMatchObject([{ status: "ok" }]);
    const wrong = await doctor({ BACKSTAMP_SECRET: "another secret that is long enough" });
    expect(wrong.of("secret")).toMatchObject([
      { status: "error", message: expect.stringMatching(/1 of 1 relays/) },
    ]);
    expect(wrong.of("smtp")).toMatchObject([
      { status: "error", message: expect.stringContaining("BACKSTAMP_SECRET") },
    ]);
    expect(wrong.code).toBe(2);
  },
);

test("without a secret the checks that need it say so", wait, async () => {
  const done = await doctor({ BACKSTAMP_SECRET: "", BACKSTAMP_DATA_DIR: await emptyFolder() });
  expectAdvice(done);
  expect(done.of("secret")).toMatchObject([
    { status: "error", message: "BACKSTAMP_SECRET is not set here." },
  ]);
  expect(done.of("proxy")).toMatchObject([{ status: "not_checked" }]);
});

test("each relay is reported with its fault: rejected login, closed port, no TLS", wait, async () => {
  const rejecting = await smtp({ ehlo: EHLO_AUTH, auth: "535 5.7.8 bad credentials" });
  const plain = await smtp();
  const relays = [
    await relayTo(world.deps, rejecting, { name: "login", login: "user:secret-word@" }),
    await relayTo(world.deps, { port: 1 }, { name: "closed" }),
    await relayTo(world.deps, plain, { name: "plain", query: "?tls=required" }),
  ];
  onTestFinished(
    async () => void (await world.hot`delete from relays where id = any(${relays.map(({ id }) => id)})`),
  );
  const done = await doctor();
  expectAdvice(done);
  const about = (name: string) => done.of("smtp").find(({ subject }) => subject?.startsWith(name));
  expect(about("login")).toMatchObject({
    status: "error",
    message: expect.stringContaining("535"),
    advice: expect.stringContaining("password"),
  });
  expect(about("closed")).toMatchObject({ status: "error", advice: expect.stringContaining("firewall") });
  expect(about("plain")).toMatchObject({ status: "error", advice: expect.stringContaining("STARTTLS") });
  expect(JSON.stringify(done)).not.toContain("secret-word");
});

describe("direct delivery", () => {
  const host = "mail.example.net";
  const address = "127.0.0.1";
  const scripted =
    (pointer: string | null): DnsScript =>
    (question) => {
      const { name, type } = question;
      if (type === "MX")
        return { answers: [{ name, type, ttl: 0, data: { preference: 1, exchange: host } }] };
      if (type === "PTR" && name === reverseNameOf(address))
        return pointer === null ? null : { answers: [{ name, type, ttl: 0, data: pointer }] };
      if (name === host || name === "other.example.net")
        return { answers: addressRecords(question, [address]) };
      return null;
    };
  const examine = async (pointer: string | null, mxPort: number) =>
    doctor({
      SMTP_URL: `direct:${mxPort}`,
      BACKSTAMP_HOSTNAME: host,
      BACKSTAMP_DNS_SERVERS: await dns(scripted(pointer)),
      BACKSTAMP_EGRESS_ALLOW: "127.0.0.0/8",
    });

  test("with open port 25 and a PTR record that names the host, both are ok", wait, async () => {
    const mx = await smtp();
    const done = await examine(host, mx.port);
    expect(done.of("smtp")).toMatchObject([{ status: "ok", subject: "direct delivery" }]);
    expect(done.of("reverse_dns")).toMatchObject([{ status: "ok", subject: address }]);
    expect(mx.commands.some((line) => line.startsWith("MAIL"))).toBe(false);
  });

  test("a blocked port 25 is an error", wait, async () => {
    const done = await examine(host, 1);
    expect(done.of("smtp")).toMatchObject([
      { status: "error", advice: expect.stringContaining("open outgoing port 25") },
    ]);
  });

  test.each([
    ["no record", null, "error"],
    ["a name that resolves to another address", "elsewhere.example.net", "error"],
    ["another name of the same address", "other.example.net", "warning"],
  ])("a PTR record with %s is reported", wait, async (_what, pointer, status) => {
    const mx = await smtp();
    const [finding] = (await examine(pointer, mx.port)).of("reverse_dns");
    expect(finding).toMatchObject({
      status,
      advice: expect.stringContaining(`Set the PTR record of ${address}`),
    });
  });
});

test("the SPF record of the installation's return paths is evaluated for its addresses", wait, async () => {
  const host = "mail.example.net";
  const examine = async (record: string) => {
    const names = await dns((question) => {
      const { name, type } = question;
      if (name === host) return { answers: addressRecords(question, ["192.0.2.7", "2001:db8::7"]) };
      const isRecord = name === "bounces.example.net" && type === "TXT";
      return isRecord ? { answers: [{ name, type, ttl: 0, data: record }] } : null;
    });
    const settings = { BACKSTAMP_HOSTNAME: host, BACKSTAMP_RETURN_PATH_DOMAIN: "bounces.example.net" };
    return doctor({ SMTP_URL: "direct:1", BACKSTAMP_DNS_SERVERS: names, ...settings });
  };
  const right = await examine("v=spf1 ip4:192.0.2.7 ip6:2001:db8::/64 -all");
  expect(right.of("return_path")).toMatchObject([{ status: "ok", subject: "bounces.example.net" }]);
  const wrong = await examine("v=spf1 ip4:192.0.2.7 -all");
  expectAdvice(wrong);
  expect(wrong.of("return_path")).toMatchObject([
    { status: "warning", advice: expect.stringContaining(`v=spf1 a:${host} ip4:192.0.2.7 -all`) },
  ]);
  expect((await doctor()).of("return_path")).toMatchObject([{ status: "not_checked" }]);
});

test(
  "a name server that does not respond, and domains whose records are gone, are reported",
  wait,
  async () => {
    const domain = await world.domain("lost.example", { verified: true });
    await world.hot`update domains set declared_verified_at = null, status = 'verified' where id = ${domain.id}`;
    onTestFinished(async () => void (await world.hot`delete from domains where id = ${domain.id}`));
    const names = await dns(() => null);
    const gone = await doctor({ BACKSTAMP_DNS_SERVERS: names });
    expect(gone.of("dns")).toMatchObject([{ status: "ok", subject: names }]);
    expect(gone.of("domains")).toMatchObject([
      { subject: "example.org", status: "warning" },
      { subject: "lost.example", status: "error", message: expect.stringContaining("ownership at ") },
    ]);
    expect(gone.of("domains")[1]?.message).toContain("dmarc at _dmarc.lost.example");
    const down = await doctor({ BACKSTAMP_DNS_SERVERS: "127.0.0.1:9" });
    expect(down.of("dns")).toMatchObject([{ status: "error" }]);
  },
);

test("workers and the scheduler are judged by their last heartbeat", wait, async () => {
  const judge = async () => (await doctor()).of("workers")[0];
  onTestFinished(async () => void (await world.hot`delete from workers`));
  expect(await judge()).toMatchObject({
    status: "error",
    message: expect.stringContaining("No worker has run"),
  });
  await beat(TICK_WORKER_ID);
  await world.elapse("3 minutes");
  expect(await judge()).toMatchObject({
    status: "ok",
    message: expect.stringContaining("/api/cron/tick 3 minutes ago"),
  });
  await world.elapse("20 minutes");
  expect(await judge()).toMatchObject({
    status: "error",
    message: expect.stringContaining("23 minutes ago"),
  });
  await beat();
  expect(await judge()).toMatchObject({ status: "ok", message: "One worker runs." });
});

test("SMTP ports and the certificate are checked", wait, async () => {
  const folder = await emptyFolder();
  const files = { cert: path.join(folder, "cert.pem"), key: path.join(folder, "key.pem") };
  const certificate = makeCertificate();
  await writeFile(files.cert, certificate.cert);
  await writeFile(files.key, certificate.key);
  const open = await smtp({}, { certificate });
  const env = {
    BACKSTAMP_RETURN_PATH_DOMAIN: "bounces.example.com",
    BACKSTAMP_INBOUND_PORT: String(open.port),
    BACKSTAMP_SMTP_PORT: String(open.port),
    BACKSTAMP_SMTPS_PORT: "1",
    BACKSTAMP_SMTP_TLS: `${files.cert},${files.key}`,
  };
  const now = (await doctor(env)).of("ports");
  expect(now).toMatchObject([
    {
      status: "ok",
      message: expect.stringContaining("Register feedback loops with feedback@bounces.example.com."),
    },
    { subject: `BACKSTAMP_SMTP_PORT ${open.port}`, status: "ok" },
    { subject: `BACKSTAMP_SMTPS_PORT ${env.BACKSTAMP_SMTPS_PORT}`, status: "error" },
    { subject: "BACKSTAMP_SMTP_TLS" },
  ]);
  const expired = makeCertificate({ validFrom: new Date("2025-01-01"), validTo: new Date("2025-02-01") });
  await writeFile(files.cert, expired.cert);
  await writeFile(files.key, expired.key);
  expect((await doctor(env)).of("ports")[3]).toMatchObject({
    status: "error",
    message: expect.stringMatching(/^The certificate expired on /),
  });
});

test("the number of reverse proxies is compared with what a request passes", wait, async () => {
  const behind = closeAfterTest(await startRest({ ...world.deps, trustedHops: 1, clock: () => new Date() }));
  expect((await doctor({ BACKSTAMP_URL: behind.baseUrl })).of("proxy")).toMatchObject([
    { status: "error", message: expect.stringContaining("pass 0 reverse proxies") },
  ]);
  const unreachable = "http://127.0.0.1:2";
  expect((await doctor({ BACKSTAMP_URL: unreachable })).of("proxy")).toMatchObject([{ status: "warning" }]);
  const stranger = await doctor({
    BACKSTAMP_URL: behind.baseUrl,
    BACKSTAMP_SECRET: "another secret ".repeat(3),
  });
  const message = expect.stringContaining("status 404");
  expect(stranger.of("proxy")).toMatchObject([{ status: "error", message }]);
});

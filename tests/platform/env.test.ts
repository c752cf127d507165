import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { REPLACED } from "#server/platform/env/replaced";
import { loadDotEnv, type Mode, readSettings, SettingsError } from "#server/platform/env/settings";
import { renderEnvExample, SETTINGS } from "#server/platform/env/table";

function faultsOf(source: Record<string, string>, mode: Mode = "dev"): Record<string, string> {
  try {
    readSettings(source, mode);
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error;
    return Object.fromEntries(error.faults.map(({ name, reason }) => [name, reason]));
  }
  return {};
}

test("an empty environment is enough for dev and start", () => {
  expect(readSettings({}, "dev")).toMatchObject({
    port: 3000,
    host: "127.0.0.1",
    dataDir: path.resolve(".backstamp"),
    url: "http://localhost:3000",
    databaseUrl: null,
    smtpUrl: "capture:",
    limitStore: { kind: "in-process" },
    bodyMaxBytes: 48 * 1024 * 1024,
    systemFrom: "backstamp@localhost",
  });
  expect(readSettings({}, "start")).toMatchObject({
    host: "0.0.0.0",
    smtpUrl: null,
    url: "http://localhost:3000",
  });
});

test("an empty string counts as absent", () => {
  const empty = Object.fromEntries(Object.keys(SETTINGS).map((name) => [name, " "]));
  expect(readSettings(empty, "start")).toEqual(readSettings({}, "start"));
});

test("the default public URL uses the port, and a configured URL has no trailing slash", () => {
  expect(readSettings({ PORT: "3101" }, "dev").url).toBe("http://localhost:3101");
  const settings = readSettings({ BACKSTAMP_URL: "https://mail.example.com/" }, "start");
  expect(settings.url).toBe("https://mail.example.com");
  expect(settings.systemFrom).toBe("backstamp@mail.example.com");
});

test("each setting's example is valid", () => {
  const all = Object.fromEntries(Object.entries(SETTINGS).map(([name, setting]) => [name, setting.example]));
  for (const mode of ["dev", "start", "vercel"] as const) {
    // No worker runs on Vercel.
    const backup = mode === "vercel" ? { BACKSTAMP_BACKUP_TO: "" } : {};
    expect(readSettings({ ...all, ...backup }, mode)).toMatchObject({
      limitStore: { kind: "upstash", url: all.UPSTASH_REDIS_REST_URL },
      dnsServers: [{ host: "9.9.9.9", port: 53 }],
      github: { id: "id", secret: "secret" },
      isDatabasePooled: true,
    });
  }
});

// Invalid values of each setting with a format.
const WRONG: Record<string, string[]> = {
  PORT: ["0", "65536", "-1", "3000x", "3.5", "http", "1e3", "99999999999"],
  HOST: ["http://127.0.0.1", "a b", "127.0.0.1:3000", "-x"],
  BACKSTAMP_DATA_DIR: ["a\0b"],
  BACKSTAMP_URL: [
    "mail.example.com",
    "ftp://mail.example.com",
    "https://example.com/backstamp",
    "https://u:p@example.com",
    "https://",
  ],
  BACKSTAMP_SECRET: ["short", "x".repeat(31)],
  BACKSTAMP_ADMIN: [
    "ann",
    "ann@",
    "a@b.example, c@d.example",
    "Ann <ann@example.com>",
    "ann@example.com:tooshort",
    ":a long phrase",
  ],
  DATABASE_URL: ["localhost", "mysql://localhost/x", "postgres:///backstamp", "postgres://one,two/backstamp"],
  UPSTASH_REDIS_REST_URL: ["redis://localhost", "example.upstash.io"],
  REDIS_URL: ["localhost:6379", "http://localhost"],
  SMTP_URL: ["mail.example.com", "http://mail.example.com", "smtp://", "capture", "direct:0", "direct:65536"],
  BACKSTAMP_HOSTNAME: ["mail", "https://mail.example.com", "mail.example.com:25"],
  BACKSTAMP_RETURN_PATH_DOMAIN: ["ann@example.com"],
  BACKSTAMP_INBOUND_PORT: ["yes"],
  BACKSTAMP_SMTP_PORT: ["0", "smtp", "127.0.0.1:0", "::1:25", "[127.0.0.1]:25", "http://a:25", "a b:25"],
  BACKSTAMP_SMTPS_PORT: ["70000"],
  BACKSTAMP_SMTP_TLS: ["a\0b", "a,b,c", ",", "a,"],
  BACKSTAMP_TIME_LIMITS: ["connect", "connect=0", "lease=5", "toString=5", "connect=5=5"],
  BACKSTAMP_BACKUP_PLAN: ["6", "hours=721", "keep=0"],
  BACKSTAMP_TEAM_PAUSE: ["10", "bounces=100", "complaints=0"],
  BACKSTAMP_METRICS_PORT: ["127.0.0.1"],
  AUTH_GITHUB: ["id", ":secret", "id:"],
  BACKSTAMP_DNS_SERVERS: [
    "dns.example.com",
    "9.9.9.9:0",
    "9.9.9.9:99999",
    "[9.9.9.9]:53",
    "::1:53x",
    "9.9.9.9,,x",
  ],
  BACKSTAMP_EGRESS_ALLOW: ["10.0.0.0/33", "fd00::/129", "example.com", "10.0.0.0/8/8", "10.0.0.0/"],
  BACKSTAMP_TRUSTED_HOPS: ["all", "17"],
  BACKSTAMP_BODY_MAX_MB: ["0", "48MB", "1024"],
  BACKSTAMP_API_HOST: ["https://api.example.com", "api", "api.example.com/api"],
  BACKSTAMP_SYSTEM_FROM: ["backstamp", "a@example.com, b@example.com"],
  CRON_SECRET: ["x"],
  AUTH_OIDC_ISSUER: [
    "id.example.com",
    "http://id.example.com",
    "http://127.0.0.1.example.com",
    "https://user:secret@id.example.com",
    "https://id.example.com/?tenant=1",
    "https://id.example.com/#x",
    "https://id.example.com/.well-known/openid-configuration",
    "ftp://id.example.com",
  ],
  AUTH_OIDC_TRUST_EMAIL: ["maybe"],
};

test.each(Object.entries(WRONG))("an invalid %s is reported by name", (name, values) => {
  for (const value of values) {
    const faults = faultsOf({ [name]: value });
    expect(faults[name], `${name}=${value}`).toMatch(/Enter|Give|Use|fewer than/);
  }
});

test.each([
  ["DATABASE_URL", "postgres://ann:sec#ret@db.example/backstamp"],
  ["DATABASE_URL", "postgres://ann:12/34@db.example/backstamp"],
  ["DATABASE_URL", "postgres://ann:12#34@db.example/backstamp"],
  ["REDIS_URL", "redis://:sec/ret@redis.example:6379"],
])("%s with a password that is not percent-encoded says so, without the password: %s", (name, value) => {
  expect(faultsOf({ [name]: value })[name]).toMatch(/Percent-encode it: # is %23/);
  expect(() => readSettings({ [name]: value }, "dev")).not.toThrow(/sec|34/);
});

test("an @ after the host is no part of a password", () => {
  const url = "postgres://db.example:5432/backstamp?user=ann@tenant";
  expect(faultsOf({ DATABASE_URL: url })).toEqual({});
});

test("direct delivery is accepted, also at another port, but not on Vercel", () => {
  expect(readSettings({ SMTP_URL: "direct:" }, "start").smtpUrl).toBe("direct:");
  expect(readSettings({ SMTP_URL: "direct:" }, "start").mxPort).toBe(25);
  expect(readSettings({ SMTP_URL: "direct:2525" }, "start").mxPort).toBe(2525);
  expect(faultsOf({ SMTP_URL: "direct:2525" }, "vercel").SMTP_URL).toContain("Set the URL of a relay");
});

test("scheduled backups are rejected on Vercel, where no worker runs", () => {
  const backup = { BACKSTAMP_BACKUP_TO: "/var/lib/backups" };
  expect(readSettings(backup, "start").backup.folder).toBe("/var/lib/backups");
  expect(faultsOf(backup, "vercel").BACKSTAMP_BACKUP_TO).toContain("No worker runs on Vercel");
});

test("SMTP submission without a certificate listens only on a loopback address", () => {
  const port = { BACKSTAMP_SMTP_PORT: "2587" };
  const loopback = /BACKSTAMP_SMTP_TLS.*127\.0\.0\.1:2587/;
  expect(faultsOf(port, "start").BACKSTAMP_SMTP_PORT).toMatch(loopback);
  expect(faultsOf({ ...port, HOST: "0.0.0.0" }, "dev").BACKSTAMP_SMTP_PORT).toMatch(loopback);
  expect(faultsOf({ BACKSTAMP_SMTP_PORT: "[::1]:2587" }, "start")).toEqual({});
  expect(faultsOf({ BACKSTAMP_SMTPS_PORT: "2465" }).BACKSTAMP_SMTP_TLS).toContain("Required");
  const tls = { BACKSTAMP_SMTPS_PORT: "[::]:2465", BACKSTAMP_SMTP_TLS: "/c, /k" };
  expect(readSettings({ ...port, ...tls }, "start").submission).toEqual({
    startTls: { host: "0.0.0.0", port: 2587 },
    implicitTls: { host: "::", port: 2465 },
    certificateFiles: { cert: "/c", key: "/k" },
  });
  const oneFile = readSettings({ BACKSTAMP_SMTP_TLS: "/both.pem" }, "start").submission;
  expect(oneFile.certificateFiles).toEqual({ cert: "/both.pem", key: "/both.pem" });
});

test("dev listens for submission on a free loopback port, start does not", () => {
  const off = { startTls: null, implicitTls: null, certificateFiles: null };
  const free = { host: "127.0.0.1", port: 0 };
  expect(readSettings({ HOST: "0.0.0.0" }, "dev").submission).toEqual({ ...off, startTls: free });
  expect(readSettings({}, "start").submission).toEqual(off);
});

test("all faults are reported at once, without secrets", () => {
  const source = {
    PORT: "http",
    BACKSTAMP_SECRET: "hunter2",
    BACKSTAMP_ADMIN: "ann@example.com:hunter2",
    DATABASE_URL: "mysql://root:hunter2@localhost/x",
    REDIS_URL: "http://:hunter2@localhost",
    SMTP_URL: "http://ann:hunter2@localhost",
    CRON_SECRET: "hunter2",
    AUTH_GITHUB: "hunter2",
    UPSTASH_REDIS_REST_TOKEN: "hunter2",
  };
  const faults = faultsOf(source);
  expect(Object.keys(faults).sort()).toEqual(
    [
      ...Object.keys(source).filter((name) => name !== "UPSTASH_REDIS_REST_TOKEN"),
      "UPSTASH_REDIS_REST_URL",
    ].sort(),
  );
  expect(() => readSettings(source, "dev")).toThrow(
    /PORT: "http" is not valid\. Enter a whole number from 1 to 65535/,
  );
  expect(() => readSettings(source, "dev")).not.toThrow(/hunter2/);
});

test("production with DATABASE_URL requires the public URL; Vercel also requires the secret and the database", () => {
  expect(faultsOf({ DATABASE_URL: "postgres://h/x" }, "dev")).toEqual({});
  expect(Object.keys(faultsOf({ DATABASE_URL: "postgres://h/x" }, "start"))).toEqual(["BACKSTAMP_URL"]);
  expect(Object.keys(faultsOf({}, "vercel")).sort()).toEqual([
    "BACKSTAMP_SECRET",
    "BACKSTAMP_URL",
    "DATABASE_URL",
  ]);
});

test("a setting that was replaced is rejected with what to set instead, without its value", () => {
  expect(Object.keys(REPLACED).filter((name) => name in SETTINGS)).toEqual([]);
  const given = { BACKSTAMP_ADMIN_PASSWORD: "hunter2", BACKSTAMP_MX_PORT: "", AUTH_GITHUB_ID: "x" };
  const faults = faultsOf(given);
  expect(Object.keys(faults)).toEqual(["BACKSTAMP_ADMIN_PASSWORD", "AUTH_GITHUB_ID"]);
  expect(faults.AUTH_GITHUB_ID).toContain("AUTH_GITHUB=id:secret");
});

test("the database has a pooler if it also has a URL without one, which can be the same", () => {
  const pooler = { DATABASE_URL: "postgres://h:6432/x", BACKSTAMP_URL: "https://mail.example.com" };
  const read = (DATABASE_URL_UNPOOLED: string) => {
    const { isDatabasePooled, unpooledUrl } = readSettings({ ...pooler, DATABASE_URL_UNPOOLED }, "start");
    return { isDatabasePooled, unpooledUrl };
  };
  expect(read("")).toEqual({ isDatabasePooled: false, unpooledUrl: null });
  expect(read("postgres://h/x")).toEqual({ isDatabasePooled: true, unpooledUrl: "postgres://h/x" });
  expect(read(pooler.DATABASE_URL)).toEqual({ isDatabasePooled: true, unpooledUrl: null });
});

test("parts of a setting that are not set have their defaults", () => {
  const settings = readSettings(
    {
      BACKSTAMP_TIME_LIMITS: "connect=5",
      BACKSTAMP_BACKUP_PLAN: "keep=2",
      BACKSTAMP_TEAM_PAUSE: "complaints=0.5",
      BACKSTAMP_ADMIN: "Ann@example.com",
      BACKSTAMP_METRICS_TOKEN: "x".repeat(16),
      BACKSTAMP_METRICS_PORT: "9464",
    },
    "start",
  );
  expect(settings).toMatchObject({
    leaseMs: 60_000,
    smtpTimeLimits: { connectMs: 5_000 },
    backup: { everyHours: 24, keep: 2 },
    policy: { teamPause: { bounceShare: null, complaintShare: 0.005 } },
    adminEmail: "ann@example.com",
    adminPassword: null,
    metricsListener: { host: "127.0.0.1", port: 9464 },
  });
  expect(readSettings({ BACKSTAMP_TIME_LIMITS: "lease=12" }, "start").leaseMs).toBe(12_000);
});

test("traces are exported if the standard variables of OpenTelemetry name an endpoint", () => {
  const isExporting = (env: Record<string, string>) => readSettings(env, "start").areTracesExported;
  expect(isExporting({})).toBe(false);
  expect(isExporting({ OTEL_EXPORTER_OTLP_ENDPOINT: "http://h" })).toBe(true);
  expect(isExporting({ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: "http://h" })).toBe(true);
  expect(isExporting({ OTEL_EXPORTER_OTLP_ENDPOINT: "http://h", OTEL_SDK_DISABLED: "true" })).toBe(false);
  expect(faultsOf({ OTEL_EXPORTER_OTLP_ENDPOINT: "h" })).toHaveProperty("OTEL_EXPORTER_OTLP_ENDPOINT");
});

test("lists are parsed entry by entry", () => {
  const settings = readSettings(
    { BACKSTAMP_EGRESS_ALLOW: "10.0.0.0/8, ::1", BACKSTAMP_DNS_SERVERS: "[::1]:5353 127.0.0.1,2620:fe::fe" },
    "dev",
  );
  expect(settings.egressAllow).toEqual(["10.0.0.0/8", "::1/128"]);
  expect(settings.dnsServers).toEqual([
    { host: "::1", port: 5353 },
    { host: "127.0.0.1", port: 53 },
    { host: "2620:fe::fe", port: 53 },
  ]);
});

test(".env.example contains each setting and no other", async () => {
  await expect(renderEnvExample()).toMatchFileSnapshot("../../.env.example");
  const named = [...renderEnvExample().matchAll(/^# ([A-Z][A-Z0-9_]+)=/gm)].map(([, name]) => name);
  expect(named).toEqual(Object.keys(SETTINGS));
});

test("each setting is used by the program", async () => {
  const files = await readdir("server", { recursive: true });
  const sources = new Map(
    await Promise.all(
      files
        .filter((file) => file.endsWith(".ts") && file !== "platform/env/table.ts")
        .map(async (file) => [file, await readFile(path.join("server", file), "utf8")] as const),
    ),
  );
  const settled = sources.get("platform/env/settings.ts") ?? "";
  expect(Object.keys(SETTINGS).filter((name) => !settled.includes(name))).toEqual([]);
  sources.delete("platform/env/settings.ts");
  const elsewhere = [...sources.values()].join("\n");
  const isRead = (name: string) => new RegExp(`\\b${name}\\b`).test(elsewhere);
  expect(Object.keys(readSettings({}, "dev")).filter((name) => !isRead(name))).toEqual([]);
});

test(".env files add missing variables, the most specific file first", async () => {
  const folder = await mkdtemp(path.join(tmpdir(), "backstamp env-"));
  try {
    await writeFile(path.join(folder, ".env"), 'PORT=1\nHOST="a"\nREDIS_URL=c\nSMTP_URL=d # note\n');
    await writeFile(path.join(folder, ".env.production"), "HOST=b\n");
    await writeFile(path.join(folder, ".env.local"), "PORT=2\nREDIS_URL=\n");
    const target: Record<string, string | undefined> = { SMTP_URL: "given" };
    loadDotEnv(folder, "production", target);
    expect(target).toEqual({ PORT: "2", HOST: "b", REDIS_URL: "", SMTP_URL: "given" });
  } finally {
    await rm(folder, { recursive: true });
  }
});

describe("sign-in with OpenID Connect", () => {
  const whole = {
    AUTH_OIDC_ISSUER: "https://id.example.com/",
    AUTH_OIDC: "id:secret",
  };

  test("is off by default, and requires issuer and client together", () => {
    expect(readSettings({}, "dev").oidc).toBeNull();
    for (const name of Object.keys(whole))
      expect(Object.keys(faultsOf({ ...whole, [name]: "" })), name).toEqual([name]);
    expect(Object.keys(faultsOf({ AUTH_OIDC_TRUST_EMAIL: "1" }))).toEqual(["AUTH_OIDC_ISSUER"]);
  });

  test("keeps the issuer as it is, and requires verified addresses unless the operator says otherwise", () => {
    const oidc = { id: "id", secret: "secret", issuer: "https://id.example.com/" };
    expect(readSettings(whole, "dev").oidc).toEqual({ ...oidc, name: "id.example.com", trustsEmail: false });
    const more = { AUTH_OIDC: "urn%3Aid:a:secret", AUTH_OIDC_TRUST_EMAIL: "1" };
    expect(readSettings({ ...whole, ...more }, "dev").oidc).toMatchObject({
      id: "urn:id",
      secret: "a:secret",
      trustsEmail: true,
    });
    for (const issuer of ["http://localhost:8080/realms/main", "http://127.0.0.1:8080", "http://[::1]:80"])
      expect(readSettings({ ...whole, AUTH_OIDC_ISSUER: issuer }, "dev").oidc).toMatchObject({ issuer });
  });
});

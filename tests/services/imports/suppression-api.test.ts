import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { runCommand } from "../../support/processes/command-line";
import { type HttpSink, type Received, type SinkReply, startHttpSink } from "../../support/servers/http-sink";
import { createWorld, type World } from "../../support/world";

/*
 * Responses in the shapes that the sources in server/services/imports/providers document, written for these
 * tests.
 */

const key = "key-of-the-provider-never-shown";

let world: World;
let provider: HttpSink;
let folder: string;
let respond: (request: Received, nth: number) => unknown;
beforeAll(async () => {
  world = await createWorld();
  folder = await mkdtemp(path.join(tmpdir(), "backstamp-import-"));
  await writeFile(path.join(folder, "key"), `${key}\n`);
  provider = await startHttpSink((request, nth): SinkReply => {
    const reply = respond(request, nth - first);
    return isReply(reply) ? reply : { status: 200, body: JSON.stringify(reply) };
  });
});
afterAll(async () => {
  await provider.close();
  await rm(folder, { recursive: true });
  await world.close();
});

const isReply = (reply: unknown): reply is { status: number } =>
  typeof reply === "object" && reply !== null && "status" in reply;

let first = 0;
beforeEach(() => {
  first = provider.received.length;
});

async function run(args: string[], env: Record<string, string> = {}) {
  const done = await runCommand(
    ["import", "suppressions", ...args, "--api-url", `http://127.0.0.1:${provider.port}`, "--json"],
    { env: { DATABASE_URL: world.databaseUrl, BACKSTAMP_EGRESS_ALLOW: "127.0.0.0/8", ...env } },
  );
  expect(done.stdout + done.stderr).not.toContain(key);
  return done;
}

async function report(args: string[]) {
  const { code, stdout, stderr } = await run([...args, "--api-key-file", path.join(folder, "key")]);
  expect({ code, stderr: code === 0 ? "" : stderr }).toEqual({ code: 0, stderr: "" });
  return JSON.parse(stdout);
}

const paths = () => provider.received.slice(first).map(({ path }) => path);

const stored = async (end: string) =>
  (
    await world.hot`select address, origin, lists_only from suppressions
      where team_id = ${world.id} and address like ${`%@${end}`} order by address`
  ).map(({ address, origin, lists_only }) => `${address} ${origin}${lists_only ? " lists" : ""}`);

test("SendGrid: every list is read page by page, and a rate limit is waited for", async () => {
  const bounces = Array.from({ length: 501 }, (_, n) => ({
    email: `b${n}@sg.example`,
    created: 1_700_000_000,
    status: "5.1.1",
    reason: "",
  }));
  respond = ({ path: url }, nth) => {
    const { pathname, searchParams } = new URL(url, "http://x");
    if (nth === 2) return { status: 429, headers: { "retry-after": "0" } };
    const offset = Number(searchParams.get("offset"));
    if (pathname === "/v3/suppression/bounces") return bounces.slice(offset, offset + 500);
    if (pathname === "/v3/suppression/spam_reports")
      return [{ email: "spam@sg.example", created: 1, ip: "192.0.2.1" }];
    if (pathname === "/v3/asm/suppressions")
      return [{ email: "news@sg.example", group_id: 1, created_at: 1 }, { no: "email" }];
    return [];
  };
  const done = await report(["--from", "sendgrid"]);
  expect(done).toMatchObject({ read: 504, created: 503, skipped: 1 });
  expect(done.problems).toEqual([
    { list: "group-unsubscribes", entry: 2, name: null, reason: "The row has no `email`." },
  ]);
  expect(paths()).toEqual([
    "/v3/suppression/spam_reports?limit=500&offset=0",
    "/v3/suppression/bounces?limit=500&offset=0",
    "/v3/suppression/bounces?limit=500&offset=0",
    "/v3/suppression/bounces?limit=500&offset=500",
    "/v3/suppression/invalid_emails?limit=500&offset=0",
    "/v3/suppression/unsubscribes?limit=500&offset=0",
    "/v3/asm/suppressions",
  ]);
  expect(new Set(provider.received.slice(first).map(({ headers }) => headers.authorization))).toEqual(
    new Set([`Bearer ${key}`]),
  );
});

test("Postmark: every stream except the inbound one is dumped with the server token", async () => {
  respond = ({ path: url }) =>
    url.startsWith("/message-streams?")
      ? {
          MessageStreams: [
            { ID: "outbound", MessageStreamType: "Transactional" },
            { ID: "inbound", MessageStreamType: "Inbound" },
            { ID: "news", MessageStreamType: "Broadcasts" },
          ],
          TotalCount: 3,
        }
      : {
          Suppressions: [
            {
              EmailAddress: `${url.split("/")[2]}@pm.example`,
              SuppressionReason: "ManualSuppression",
              Origin: "Recipient",
              CreatedAt: "2020-01-01T00:00:00Z",
            },
          ],
        };
  expect(await report(["--from", "postmark"])).toMatchObject({ created: 2 });
  expect(paths()).toEqual([
    "/message-streams?MessageStreamType=All",
    "/message-streams/outbound/suppressions/dump",
    "/message-streams/news/suppressions/dump",
  ]);
  expect(provider.received.at(-1)?.headers["x-postmark-server-token"]).toBe(key);
  expect(await stored("pm.example")).toEqual([
    "news@pm.example manual lists",
    "outbound@pm.example manual lists",
  ]);
});

test("Mailgun: the lists of every domain are read by their next pages, with basic authentication", async () => {
  respond = ({ path: url, headers }) => {
    if (url.startsWith("/v4/domains")) return { total_count: 1, items: [{ name: "mg.example" }] };
    if (url.startsWith("/v3/mg.example/bounces?limit"))
      return {
        items: [{ address: "gone@mg.example", code: "550" }],
        paging: { next: `http://${headers.host}/v3/mg.example/bounces?page=next` },
      };
    return { items: [], paging: {} };
  };
  expect(await report(["--from", "mailgun"])).toMatchObject({ read: 1, created: 1 });
  expect(paths()).toEqual([
    "/v4/domains?limit=1000&skip=0",
    "/v3/mg.example/complaints?limit=1000",
    "/v3/mg.example/bounces?limit=1000",
    "/v3/mg.example/bounces?page=next",
    "/v3/mg.example/unsubscribes?limit=1000",
  ]);
  expect(provider.received.at(-1)?.headers.authorization).toBe(`Basic ${btoa(`api:${key}`)}`);
  first = provider.received.length;
  await report(["--from", "mailgun", "--domain", "mg.example"]);
  expect(paths().some((url) => url.startsWith("/v4/domains"))).toBe(false);
});

test("Resend: suppressions and unsubscribed contacts are read by cursor", async () => {
  respond = ({ path: url }) => {
    if (url === "/suppressions?limit=100")
      return {
        object: "list",
        has_more: true,
        data: [{ id: "s/1", email: "gone@rs.example", origin: "bounce", created_at: "2026-01-31T12:00:00Z" }],
      };
    if (url === "/contacts?limit=100")
      return {
        object: "list",
        has_more: false,
        data: [
          { id: "c1", email: "left@rs.example", unsubscribed: true },
          { id: "c2", email: "stays@rs.example", unsubscribed: false },
        ],
      };
    return {
      object: "list",
      has_more: false,
      data: [{ id: "s2", email: "spam@rs.example", origin: "complaint" }],
    };
  };
  expect(await report(["--from", "resend"])).toMatchObject({ created: 3, other: 1 });
  expect(paths()).toEqual([
    "/suppressions?limit=100",
    "/suppressions?limit=100&after=s%2F1",
    "/contacts?limit=100",
  ]);
  expect(await stored("rs.example")).toEqual([
    "gone@rs.example bounce",
    "left@rs.example manual lists",
    "spam@rs.example complaint",
  ]);
});

test("the key is read from the environment, and a rejected key, an unknown form and a next page elsewhere are explained", async () => {
  const env = { MAILGUN_API_KEY: key };
  respond = () => ({ status: 401 });
  expect((await run(["--from", "mailgun"], env)).stderr).toContain(
    "Mailgun rejected the key for /v4/domains (401)",
  );
  respond = () => ({ items: "none" });
  expect((await run(["--from", "mailgun"], env)).stderr).toContain('has an unknown form at "items"');
  respond = ({ path: url }) =>
    url.startsWith("/v4")
      ? { total_count: 1, items: [{ name: "x.example" }] }
      : { items: [{}], paging: { next: "http://127.0.0.2/" } };
  const elsewhere = await run(["--from", "mailgun"], env);
  expect(elsewhere.code).toBe(1);
  expect(elsewhere.stderr).toContain("a next page on 127.0.0.2, which is not its API");
});

test("without permission of the operator, an address of an internal network is not called", async () => {
  const { code, stderr } = await run(["--from", "resend"], {
    RESEND_API_KEY: key,
    BACKSTAMP_EGRESS_ALLOW: "",
  });
  expect(code).toBe(1);
  expect(stderr).toContain("127.0.0.1 is not an address of the public Internet");
  expect(paths()).toEqual([]);
});

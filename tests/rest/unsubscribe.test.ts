import PostalMime from "postal-mime";
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { createKeyring } from "#server/platform/secrets/keyring";
import { createDomain, declareDomainVerified } from "#server/services/domains/write";
import { listWrongTotals } from "../support/database/recipient-totals";
import { deliverDue } from "../support/pump-engine";
import { rejected } from "../support/rejected";
import { transportTo } from "../support/relays";
import { callApi, startRest } from "../support/rest";
import { startSmtpTestServer } from "../support/servers/smtp-test-server";
import { openWorld } from "../support/world";

let isGone = false;
const names = { mailHost: null, returnPathDomain: null as string | null, webHost: null };
const world = await openWorld({ transportKind: "relay", names });
const { token } = await world.key();
await createDomain(world.ctx, { name: "news.example" });
await declareDomainVerified(world.ctx, "news.example");
const smtpServer = await startSmtpTestServer({
  rcpt: ({ address }) => (isGone && address.startsWith("dead") ? "550 5.1.1 no such user" : "250 ok"),
});
const transport = transportTo(smtpServer);
afterAll(async () => {
  await transport.close();
  await smtpServer.close();
});
beforeEach(() => {
  smtpServer.messages.length = 0;
});

const EMAIL = {
  from: "News <ann@news.example>",
  to: ["ben@example.net"],
  subject: "News",
  html: "<p>Hello</p>",
  list_unsubscribe: true,
};
const send = (more: object = {}) => world.api("POST", "/api/emails", { token, body: { ...EMAIL, ...more } });
const round = () => deliverDue({ ...world.deps, names, transport });

async function headersOf(bytes: Buffer): Promise<Record<string, string>> {
  const { headers } = await PostalMime.parse(bytes);
  return Object.fromEntries(headers.map(({ key, value }) => [key, value]));
}

/** Sends and delivers an email, and returns the path of each recipient's link. */
async function linksOf(more: object): Promise<Map<string, string>> {
  expect((await send(more)).status).toBe(200);
  await round();
  const links = new Map<string, string>();
  for (const { to, bytes } of smtpServer.messages) {
    const header = (await headersOf(bytes))["list-unsubscribe"] ?? "";
    const [, link] = /^<(https:\/\/mail\.example\.com\/[^>]+)>$/.exec(header) ?? [];
    links.set(to.join(), new URL(link ?? "").pathname);
  }
  return links;
}

const suppressed = async (address: string) => {
  const { body } = await world.api("GET", `/api/suppressions/${encodeURIComponent(address)}`, { token });
  return body.origin ?? null;
};
const statusOf = async (id: unknown) => {
  const { body } = await world.api("GET", `/api/emails/${id}`, { token });
  return body.status;
};

test("each recipient gets a separate message with both headers, which are signed", async () => {
  const links = await linksOf({ to: ["a@example.net", "b@example.net"], bcc: ["c@example.net"] });
  expect([...links.keys()].sort()).toEqual(["a@example.net", "b@example.net", "c@example.net"]);
  expect(new Set(links.values()).size).toBe(3);
  for (const { bytes, to } of smtpServer.messages) {
    const headers = await headersOf(bytes);
    expect(headers["list-unsubscribe-post"]).toBe("List-Unsubscribe=One-Click");
    expect(headers["feedback-id"]).toMatch(/^bounce-[a-z2-7]{52}:list:news\.example:[0-9a-f]{12}:backstamp$/);
    const covered = /h=([^;]+);/
      .exec(headers["dkim-signature"] ?? "")?.[1]
      ?.replace(/\s/g, "")
      .split(":");
    expect(covered).toEqual(
      expect.arrayContaining(["list-unsubscribe", "list-unsubscribe-post", "feedback-id"]),
    );
    if (!to.includes("c@example.net")) expect(bytes.toString()).not.toContain("c@example.net");
  }
});

test("a GET of the link changes nothing and returns a confirmation page", async () => {
  const [path = ""] = (await linksOf({ to: ["visit@example.net"] })).values();
  for (const method of ["GET", "HEAD", "GET"]) {
    const { status, text, headers } = await world.api(method, path);
    expect(status).toBe(200);
    expect(headers["content-security-policy"]).toContain("default-src 'none'");
    expect(headers["set-cookie"]).toBeUndefined();
    if (method === "GET") expect(text).toMatch(/v…@example\.net.*<form method="post"/);
  }
  expect(await suppressed("visit@example.net")).toBeNull();
});

test("a link with parameters and a slash that a program added unsubscribes", async () => {
  const [path = ""] = (await linksOf({ to: ["fbclid@example.net"] })).values();
  expect((await world.api("GET", `${path}/?fbclid=1`)).text).toContain("f…@example.net");
  expect((await world.api("POST", `${path}?utm=1`)).status).toBe(200);
  expect(await suppressed("fbclid@example.net")).toBe("unsubscribe");
});

test("metrics count an unsubscribe once, with the email and its tags, and not a GET of the link", async () => {
  const address = "counted@example.net";
  const [path = ""] = (await linksOf({ to: [address], tags: [{ name: "kind", value: "counted" }] })).values();
  const read = async (query: string) => {
    const { body } = await world.api("GET", `/api/emails/metrics?metrics=unsubscribed&${query}`, { token });
    return body;
  };
  const counts = async () => {
    const { data } = await read("dimensions=tag");
    return { data, totals: (await read("tag=kind:counted")).totals };
  };
  const none = [{ tag: "kind:counted", unsubscribed: 0 }];
  await expect.poll(counts, { timeout: 20_000 }).toEqual({ data: none, totals: { unsubscribed: 0 } });
  await world.api("GET", path);
  expect(await counts()).toMatchObject({ data: none });
  for (let n = 0; n < 2; n++) await world.api("POST", path, { raw: "List-Unsubscribe=One-Click" });
  const once = [{ tag: "kind:counted", unsubscribed: 1 }];
  expect(await counts()).toEqual({ data: once, totals: { unsubscribed: 1 } });
  const [email] = await world.hot<
    { id: string }[]
  >`select email_id as id from deliveries where address = ${address}`;
  expect((await read(`email_id=${email?.id}`)).totals).toEqual({ unsubscribed: 1 });
  expect(await listWrongTotals(world.hot)).toEqual([]);
});

test("an unsubscribe that cannot be counted still takes effect", async () => {
  const address = "uncounted@example.net";
  const [path = ""] = (await linksOf({ to: [address] })).values();
  await world.hot`alter table recipient_counts rename to not_there`;
  try {
    const { status } = await world.api("POST", path, { raw: "List-Unsubscribe=One-Click" });
    expect(status).toBe(200);
  } finally {
    await world.hot`alter table not_there rename to recipient_counts`;
  }
  expect(await suppressed(address)).toBe("unsubscribe");
});

describe("one click", () => {
  const FORMS: [what: string, raw: string, type: string][] = [
    ["a form", "List-Unsubscribe=One-Click", "application/x-www-form-urlencoded"],
    [
      "a form in parts",
      '--x\r\nContent-Disposition: form-data; name="List-Unsubscribe"\r\n\r\nOne-Click\r\n--x--\r\n',
      "multipart/form-data; boundary=x",
    ],
  ];
  test.each(FORMS)(
    "by %s suppresses such email to the address immediately, with the origin unsubscribe",
    async (what, raw, type) => {
      const address = `${what.replaceAll(" ", "-")}@example.net`;
      const [path = ""] = (await linksOf({ to: [address] })).values();
      for (let n = 0; n < 2; n++) {
        const reply = await world.api("POST", path, { raw, headers: { "content-type": type } });
        expect({ status: reply.status, location: reply.headers.location }).toEqual({ status: 200 });
        expect(reply.text).toContain("a…@example.net");
      }
      expect(await suppressed(address)).toBe("unsubscribe");
      smtpServer.messages.length = 0;
      const { body: news } = await send({ to: [address.toUpperCase()] });
      const { body: receipt } = await send({ to: [address], list_unsubscribe: false });
      await round();
      expect([await statusOf(news.id), await statusOf(receipt.id)]).toEqual(["suppressed", "sent"]);
      expect(smtpServer.messages).toHaveLength(1);
    },
  );

  test("between claim and sending still takes effect", async () => {
    const { markHandedOver, claimDeliveries } = await import("#server/delivery/queue/claims");
    await send({ to: ["late@example.net"] });
    const claims = await claimDeliveries(world.hot, { limit: 10, leaseToken: crypto.randomUUID() });
    await world.hot`
      insert into suppressions (team_id, id, address, origin, lists_only)
      values (${world.id}, gen_random_uuid(), 'late@example.net', 'manual', true)`;
    const offering = claims.map((claim) => ({ ...claim, offersUnsubscribe: true }));
    expect(await markHandedOver(world.hot, offering)).toEqual(new Set());
    expect((await markHandedOver(world.hot, claims)).size).toBe(claims.length);
  });

  test("followed by a bounce: all email to the address is suppressed, with the origin bounce", async () => {
    const [path = ""] = (await linksOf({ to: ["dead@example.net"] })).values();
    await world.api("POST", path);
    isGone = true;
    const { body: bounced } = await send({ to: ["dead@example.net"], list_unsubscribe: false });
    await round();
    expect(await statusOf(bounced.id)).toBe("bounced");
    expect(await suppressed("dead@example.net")).toBe("bounce");
    const { body } = await send({ to: ["dead@example.net"], list_unsubscribe: false });
    await round();
    expect(await statusOf(body.id)).toBe("suppressed");
  });

  test("followed by a manual entry: all email to the address is suppressed", async () => {
    const [path = ""] = (await linksOf({ to: ["gone@example.net"] })).values();
    await world.api("POST", path);
    await world.api("POST", "/api/suppressions", { token, body: { email: "gone@example.net" } });
    smtpServer.messages.length = 0;
    const { body } = await send({ to: ["gone@example.net"], list_unsubscribe: false });
    await round();
    expect(await statusOf(body.id)).toBe("suppressed");
    expect(smtpServer.messages).toHaveLength(0);
  });

  test("with a forged link, or for another team's address, does nothing", async () => {
    const before = await world.rowCounts();
    for (const path of ["/api/unsubscribe/x", `/api/unsubscribe/${"A".repeat(98)}`])
      for (const method of ["GET", "POST"]) expect((await world.api(method, path)).status).toBe(404);
    const foreign = world.deps.recipientTokens.unsubscribeLink({
      teamId: "018f0000-0000-7000-8000-000000000000",
      emailId: "018f0000-0000-7000-8000-000000000000",
      address: "x@example.net",
    });
    expect((await world.api("POST", new URL(foreign).pathname)).status).toBe(200);
    expect(await world.rowCounts()).toEqual(before);
  });
});

test("an address that contains markup is escaped", async () => {
  const link = world.deps.recipientTokens.unsubscribeLink({
    teamId: world.id,
    emailId: world.id,
    address: `a@"><script>alert(1)</script>'&`,
  });
  const { text } = await world.api("GET", new URL(link).pathname);
  expect(text).not.toContain("<script");
  expect(text).toContain("&quot;&gt;&lt;script&gt;");
});

test.each([
  [{ headers: { "List-Unsubscribe": "<https://example.com/u>" } }, /List-Unsubscribe/],
  [{ headers: { "list-unsubscribe-post": "List-Unsubscribe=One-Click" } }, /list-unsubscribe-post/],
  [{ list_unsubscribe: "yes" }, /list_unsubscribe/],
])("is rejected with %j", async (more, message) => {
  expect(await send(more)).toMatchObject(rejected(422, message));
});

test("email clients ignore a link without https, so the email is rejected", async () => {
  const { createRecipientTokens } = await import("#server/platform/secrets/recipient-tokens");
  const deps = {
    ...world.deps,
    recipientTokens: createRecipientTokens(createKeyring(["secret"]), "http://localhost:3000"),
  };
  const server = await startRest(deps);
  const { status, body } = await callApi(server.baseUrl, "POST", "/api/emails", { token, body: EMAIL });
  await server.close();
  expect({ status, message: body.message }).toEqual({ status: 422, message: expect.stringMatching(/https/) });
});

test("with a return-path domain each recipient has an encrypted envelope sender and one message", async () => {
  names.returnPathDomain = "bounces.example.com";
  const { body } = await send({ to: ["v1@example.net", "v2@example.net"], list_unsubscribe: false });
  await round();
  names.returnPathDomain = null;
  const rows = await world.hot<{ id: string; address: string }[]>`
    select id, address from deliveries where email_id = ${String(body.id)}`;
  expect(smtpServer.messages).toHaveLength(2);
  for (const { from, to, bytes } of smtpServer.messages) {
    const [local = "", domain] = from.split("@");
    expect(domain).toBe("bounces.example.com");
    const delivery = rows.find(({ address }) => address === to[0]);
    expect(world.deps.recipientTokens.openReturnPath(local)).toBe(delivery?.id);
    expect(bytes.toString()).not.toContain("bounces.example.com");
    expect((await headersOf(bytes)).from).toContain("ann@news.example");
  }
});

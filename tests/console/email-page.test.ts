import { beforeEach, describe, expect, test } from "vitest";
import { getEmail } from "#server/services/emails/read/read";
import { createKey } from "#server/services/keys/keys";
import { addSuppressions } from "#server/services/suppressions/suppress";
import { answerMessageBody } from "#server/trpc/emails/message-body";
import { FOR_CONCURRENT_CALLS, openConsole } from "../support/console/console";
import { createRoleTeam, type RoleTeam } from "../support/console/role-teams";
import { refused } from "../support/rejected";

let ann: RoleTeam;
let token: string;
let nth = 0;
const console = await openConsole(FOR_CONCURRENT_CALLS);
beforeEach(async () => {
  ann = await createRoleTeam(console, `Ann's ${++nth}`);
  ({ token } = await createKey(ann.ctx, {
    name: "Shop",
    scopes: ["emails:send", "emails:read"],
    domains: "all",
  }));
});

const MAIL = { from: "ann@backstamp.test", to: "delivered@backstamp.test", subject: "Hi", html: "<p>Hi</p>" };

async function post(path: string, body: unknown, headers: Record<string, string> = {}) {
  const answer = await console.world.api("POST", path, { token, body, headers });
  expect(answer.status).toBe(200);
  return answer.body as { id: string; data: { id: string }[] };
}

const pageOf = (id: string) => ann.data("viewer", "emails.get", { id });

describe("the idempotency key", () => {
  test("of each email of a request is on its page, and not in the API", async () => {
    const headers = { "idempotency-key": "order-1/receipt" };
    const one = await post("/api/emails", MAIL, headers);
    const batch = await post("/api/emails/batch", [MAIL, MAIL], headers);
    const ids = [one.id, ...batch.data.map(({ id }) => id)];
    expect(ids).toHaveLength(3);
    for (const id of ids) {
      expect(await pageOf(id)).toMatchObject({ idempotencyKey: "order-1/receipt" });
      const answer = await console.world.api("GET", `/api/emails/${id}`, { token });
      expect(JSON.stringify(answer.body)).not.toContain("order-1");
    }
    // It stays when the record that recognizes a repetition expires.
    await console.world.hot`delete from idempotency_keys`;
    expect(await pageOf(one.id)).toMatchObject({ idempotencyKey: "order-1/receipt" });
  });

  test("is null without one, for an email of an earlier release, and after the content was erased", async () => {
    const { id } = await post("/api/emails", MAIL);
    expect(await pageOf(id)).toMatchObject({ idempotencyKey: null });
    const sent = await post("/api/emails", MAIL, { "idempotency-key": "order-2" });
    await console.world.hot`delete from email_bodies where email_id = ${sent.id}`;
    expect(await pageOf(sent.id)).toMatchObject({ idempotencyKey: null });
  });
});

test("the document of a message loads images of other hosts only when they are asked for", async () => {
  const { id } = await post("/api/emails", MAIL);
  const cookies = await ann.cookies("viewer");
  const policyOf = async (withImages: boolean) => {
    const response = await answerMessageBody(console.deps, cookies, { team: ann.teamId, id, withImages });
    expect(await response.text()).toBe(MAIL.html);
    return response.headers.get("content-security-policy");
  };
  expect(await policyOf(false)).toMatch(/^sandbox; default-src 'none'; .*; img-src data:;/);
  expect(await policyOf(true)).toMatch(/; img-src data: https:;/);
});

describe("sending again as new", () => {
  const FILE = { filename: "a.txt", content: Buffer.from("Dear Ann").toString("base64") };
  const WHOLE = {
    from: "Shop <shop@backstamp.test>",
    to: ["Ann <delivered+ann@backstamp.test>"],
    cc: "delivered+cc@backstamp.test",
    bcc: "delivered+bcc@backstamp.test",
    reply_to: ["help@backstamp.test"],
    subject: "Your order",
    html: "<p>Hi</p>",
    text: "",
    headers: { "X-Order": "1" },
    tags: [{ name: "kind", value: "receipt" }],
    priority: "high",
    list_unsubscribe: true,
    attachments: [FILE],
  };
  const again = (id: string, input: object = {}) =>
    ann.call("member", "emails.sendAgain", { id, repeatKey: crypto.randomUUID(), ...input });
  const idOf = (answer: Awaited<ReturnType<typeof again>>) => {
    if (!answer.ok) throw new Error(answer.message);
    return (answer.data as { id: string }).id;
  };
  const read = (id: string) => getEmail(ann.ctx, id);
  const emailCount = async () =>
    (await console.world.hot`select from emails where team_id = ${ann.teamId}`).length;

  test("makes a new email with the same content, and both pages and the audit log name the other", async () => {
    const { id: first } = await post("/api/emails", WHOLE, { "idempotency-key": "order-1" });
    const second = idOf(await again(first));
    expect(second).not.toBe(first);
    const [a, b] = [await read(first), await read(second)];
    for (const field of [
      ...(["sender", "to", "cc", "bcc", "replyTo", "subject", "html", "text", "headers", "tags"] as const),
      ...(["priority", "listUnsubscribe", "tracksOpens", "tracksClicks"] as const),
    ])
      expect(b[field], field).toEqual(a[field]);
    expect(b).toMatchObject({ status: "queued", apiKeyId: null, idempotencyKey: null, scheduledAt: null });
    expect(b.messageId).not.toBe(a.messageId);
    expect(b.deliveries.map(({ kind, address }) => `${kind} ${address}`)).toEqual([
      "to delivered+ann@backstamp.test",
      "cc delivered+cc@backstamp.test",
      "bcc delivered+bcc@backstamp.test",
    ]);
    const [file] = await console.world.hot`
      select filename, content_type, content from attachments where email_id = ${second}`;
    expect({ ...file, content: file?.content.toString() }).toEqual({
      filename: "a.txt",
      content_type: "text/plain",
      content: "Dear Ann",
    });
    expect(await pageOf(first)).toMatchObject({ sentAgainAs: second, sentAgainOf: null });
    expect(await pageOf(second)).toMatchObject({ sentAgainAs: null, sentAgainOf: first });
    const entries = await console.world.hot`
      select actor, actor_id, subject_id, detail from audit_log
      where team_id = ${ann.teamId} and action = 'email.sent_again'`;
    expect(entries).toEqual([
      { actor: "user", actor_id: ann.userIds.member, subject_id: second, detail: { first_email: first } },
    ]);
  });

  test("to other recipients sends to these only", async () => {
    const { id } = await post("/api/emails", WHOLE);
    const other = idOf(await again(id, { to: ["Joe <delivered+joe@backstamp.test>"], cc: [], bcc: [] }));
    expect((await read(other)).deliveries.map(({ address }) => address)).toEqual([
      "delivered+joe@backstamp.test",
    ]);
    expect(await again(id, { to: [] })).toMatchObject(refused(/^To: /));
    expect(await again(id, { to: ["joe"] })).toMatchObject({ ok: false, code: "BAD_REQUEST" });
    expect(await emailCount()).toBe(2);
  });

  test("with one key, concurrent and later calls make one email, and another content is rejected", async () => {
    const { id } = await post("/api/emails", MAIL);
    const input = { repeatKey: crypto.randomUUID() };
    const made = await Promise.all(Array.from({ length: 5 }, () => again(id, input)));
    made.push(await again(id, input));
    expect(new Set(made.map(idOf)).size).toBe(1);
    expect(await emailCount()).toBe(2);
    const entries = await console.world.hot`
      select from audit_log where team_id = ${ann.teamId} and action = 'email.sent_again'`;
    expect(entries).toHaveLength(1);
    expect(await again(id, { ...input, to: ["delivered+joe@backstamp.test"] })).toMatchObject({ ok: false });
    expect(await emailCount()).toBe(2);
  });

  test("is not possible after the content was erased, for a message of SMTP, and without the domain", async () => {
    const { hot } = console.world;
    const erased = (await post("/api/emails", MAIL)).id;
    await hot`delete from email_bodies where email_id = ${erased}`;
    const submitted = (await post("/api/emails", MAIL)).id;
    await hot`update email_bodies set raw = '\\x00' where email_id = ${submitted}`;
    const removed = (await post("/api/emails", MAIL)).id;
    await hot`update emails set sender = 'ann@gone.example' where id = ${removed}`;
    for (const [id, message] of [
      [erased, "erased"],
      [submitted, "SMTP"],
      [removed, "gone.example is not a domain of this team"],
    ] as const) {
      const fault = expect.stringContaining(message);
      expect(await pageOf(id)).toMatchObject({ sendAgainFault: fault });
      expect(await again(id)).toMatchObject({ ok: false, code: "CONFLICT", message: fault });
    }
    expect(await emailCount()).toBe(3);
    expect(await pageOf((await post("/api/emails", MAIL)).id)).toMatchObject({ sendAgainFault: null });
  });

  test("a suppressed recipient is named before, and gets nothing", async () => {
    const { id } = await post("/api/emails", { ...WHOLE, list_unsubscribe: false });
    await addSuppressions(ann.ctx, ["delivered+cc@backstamp.test"]);
    await console.world.hot`
      insert into suppressions (team_id, id, address, origin, lists_only)
      values (${ann.teamId}, gen_random_uuid(), 'delivered+bcc@backstamp.test', 'manual', true)`;
    const check = (input: object = {}) => ann.call("member", "emails.suppressedRecipients", { id, ...input });
    expect(await check()).toEqual({ ok: true, data: ["delivered+cc@backstamp.test"] });
    expect(await check({ cc: [] })).toEqual({ ok: true, data: [] });
    const second = idOf(await again(id));
    await console.deliver();
    expect((await read(second)).deliveries.map(({ address, status }) => `${address} ${status}`)).toEqual([
      "delivered+ann@backstamp.test delivered",
      "delivered+cc@backstamp.test suppressed",
      "delivered+bcc@backstamp.test delivered",
    ]);
  });
});

import PostalMime from "postal-mime";
import { beforeEach, describe, expect, test } from "vitest";
import { deliverDue } from "../support/pump-engine";
import { rejected } from "../support/rejected";
import type { CallOptions } from "../support/rest";
import { openWorld } from "../support/world";

/** As many as the connections for transactions, because a call that waits too long for one gets 503. */
const cancelsAtOnce = 8;

let token: string;
const world = await openWorld({ transportKind: "capture", connectionsMax: 2 * cancelsAtOnce });
beforeEach(async () => {
  ({ token } = await world.key());
});

const EMAIL = { from: "ann@backstamp.test", to: "ben@example.net", subject: "Hello", html: "<p>Hi</p>" };
const api = (method: string, path: string, body?: unknown, more: CallOptions = {}) =>
  world.api(method, path, { token, body, ...more });
const round = () => deliverDue(world.withTransport());
/** Moves the due times, not the clock, so later calls read `scheduled_at` by the same clock. */
const pass = (interval: string) => world.hot`update deliveries set due_at = due_at - ${interval}::interval`;
const get = async (id: unknown) =>
  (await api("GET", `/api/emails/${id}`)).body as Record<string, never> & {
    status: string;
    recipients: { address: string; status: string }[];
  };

describe("a scheduled email", () => {
  test("is sent at its time and not earlier", async () => {
    const at = new Date(world.clock.now().getTime() + 3_600_000).toISOString();
    const { body } = await api("POST", "/api/emails", { ...EMAIL, scheduled_at: at });
    await round();
    expect(await get(body.id)).toMatchObject({
      status: "scheduled",
      last_event: "scheduled",
      scheduled_at: at,
    });
    await pass("2 hours");
    await round();
    expect((await get(body.id)).status).toBe("delivered");
  });

  test("can be rescheduled and canceled until sending starts", async () => {
    const { body } = await api("POST", "/api/emails", { ...EMAIL, scheduled_at: "in 1 hour" });
    const later = new Date(world.clock.now().getTime() + 86_400_000).toISOString();
    expect((await api("PATCH", `/api/emails/${body.id}`, { scheduled_at: later })).body).toEqual({
      object: "email",
      id: body.id,
    });
    await pass("2 hours");
    await round();
    expect(await get(body.id)).toMatchObject({ status: "scheduled", scheduled_at: later });
    expect((await api("POST", `/api/emails/${body.id}/cancel`)).status).toBe(200);
    await pass("2 days");
    await round();
    const canceled = await get(body.id);
    expect(canceled).toMatchObject({ status: "canceled", last_event: "canceled" });
    expect(await api("POST", `/api/emails/${body.id}/cancel`)).toMatchObject(rejected(409, "canceled"));
  });

  test("rejects a time in the past, too far in the future, or invalid", async () => {
    for (const scheduled_at of ["2001-01-01T00:00:00Z", "in 400 days", "when pigs fly"]) {
      expect(await api("POST", "/api/emails", { ...EMAIL, scheduled_at })).toMatchObject(
        rejected(422, "`scheduled_at`"),
      );
    }
  });

  test("is either canceled or sent when both happen concurrently, never both", async () => {
    const ids = await Promise.all(
      Array.from(
        { length: cancelsAtOnce },
        async () => (await api("POST", "/api/emails", { ...EMAIL, scheduled_at: "in 1 hour" })).body.id,
      ),
    );
    await pass("2 hours");
    const [, replies] = await Promise.all([
      round(),
      Promise.all(ids.map((id) => api("POST", `/api/emails/${id}/cancel`))),
    ]);
    await round();
    const states = new Set(replies.map(({ status }) => status));
    expect([200, 409]).toEqual(expect.arrayContaining([...states]));
    for (const [index, id] of ids.entries())
      expect((await get(id)).status).toBe(replies[index]?.status === 200 ? "canceled" : "delivered");
  });
});

describe("a batch", () => {
  test("is accepted completely, in order, and once per idempotency key", async () => {
    const headers = { "idempotency-key": "batch-1" };
    const emails = [1, 2, 3].map((n) => ({ ...EMAIL, subject: `Number ${n}` }));
    const first = await api("POST", "/api/emails/batch", emails, { headers });
    expect(first.status).toBe(200);
    const ids = (first.body.data as { id: string }[]).map(({ id }) => id);
    expect(await Promise.all(ids.map(async (id) => (await get(id)).subject))).toEqual([
      "Number 1",
      "Number 2",
      "Number 3",
    ]);
    const again = await api("POST", "/api/emails/batch", emails, { headers });
    expect(again.body).toEqual(first.body);
    expect(again.headers["idempotent-replayed"]).toBe("true");
  });

  test("strict: one invalid email rejects all and is named; permissive: the others are accepted", async () => {
    const before = await world.rowCounts();
    const emails = [
      EMAIL,
      { ...EMAIL, to: "nobody" },
      { ...EMAIL, nonsense: 1 },
      { ...EMAIL, from: "x@elsewhere.org" },
    ];
    expect(await api("POST", "/api/emails/batch", emails)).toMatchObject(
      rejected(422, /^\[1\]: Invalid `to/),
    );
    expect(await world.rowCounts()).toEqual(before);
    const permissive = await api("POST", "/api/emails/batch", emails, {
      headers: { "x-batch-validation": "permissive" },
    });
    expect(permissive.status).toBe(200);
    expect(permissive.body.data).toHaveLength(1);
    expect((permissive.body.errors as { index: number }[]).map(({ index }) => index)).toEqual([1, 2, 3]);
  });

  test("has 1 to 100 emails", async () => {
    const later = { ...EMAIL, scheduled_at: "in 1 day" };
    const batchOf = (length: number) =>
      api(
        "POST",
        "/api/emails/batch",
        Array.from({ length }, () => later),
      );
    for (const length of [0, 101]) expect((await batchOf(length)).status).toBe(422);
    expect((await batchOf(100)).body.data).toHaveLength(100);
    expect((await api("POST", "/api/emails/batch", EMAIL)).status).toBe(400);
  });

  test("may have attachments, each email its own, and at most 20 by URL", async () => {
    const withFile = (attachment: object) => ({ ...EMAIL, attachments: [attachment] });
    const names = ["a.txt", "b.txt"];
    const { body } = await api(
      "POST",
      "/api/emails/batch",
      names.map((filename) => withFile({ filename, content: Buffer.from(filename).toString("base64") })),
    );
    for (const [index, { id }] of (body.data as { id: string }[]).entries()) {
      const { data } = (await api("GET", `/api/emails/${id}/attachments`)).body;
      expect(data).toMatchObject([{ filename: names[index], size: 5 }]);
    }
    const byUrl = Array.from({ length: 21 }, () => withFile({ path: "https://files.example/a.pdf" }));
    const { body: answer } = await api("POST", "/api/emails/batch", byUrl, {
      headers: { "x-batch-validation": "permissive" },
    });
    expect((answer.errors as object[]).slice(-2)).toMatchObject([
      { index: 19, message: expect.stringContaining("could not be fetched") },
      { index: 20, message: expect.stringContaining("At most 20 files by `path`") },
    ]);
  });
});

describe("a retry", () => {
  const failed = async (to: string) => {
    const { body } = await api("POST", "/api/emails", { ...EMAIL, to: ["delivered@backstamp.test", to] });
    await round();
    return String(body.id);
  };

  test("sends again only to the failed recipients", async () => {
    const id = await failed("bounced@backstamp.test");
    const reply = await api("POST", `/api/emails/${id}/retry`);
    expect(reply.body).toMatchObject({
      object: "email",
      id,
      count: 1,
      data: [{ id, recipients: ["bounced@backstamp.test"] }],
    });
    expect((await get(id)).recipients.map(({ status }) => status)).toEqual(["delivered", "queued"]);
    await round();
    expect((await get(id)).status).toBe("bounced");
  });

  test("of an unknown outcome requires `accept_duplicates`", async () => {
    await world.hot`update teams set unknown_policy = 'hold'`;
    const id = await failed("unknown@backstamp.test");
    expect((await get(id)).status).toBe("unknown");
    expect(await api("POST", `/api/emails/${id}/retry`)).toMatchObject(rejected(409, "accept_duplicates"));
    expect((await api("POST", `/api/emails/${id}/retry`, { accept_duplicates: true })).body.count).toBe(1);
    await world.hot`update teams set unknown_policy = 'retry'`;
  });

  test("of a delivered email is 409 with the reason; by filter it retries the matching emails", async () => {
    const { body } = await api("POST", "/api/emails", EMAIL);
    await round();
    expect((await api("POST", `/api/emails/${body.id}/retry`)).body.error).toContain("delivered");
    const id = await failed("bounced+filter@backstamp.test");
    const found = await api("POST", "/api/emails/retry", {
      recipient: "bounced+filter@backstamp.test",
      status: "bounced",
    });
    expect(found.body).toMatchObject({ count: 1, data: [{ id }], has_more: false });
    expect((await api("POST", "/api/emails/retry", { status: "delivered" })).status).toBe(409);
  });

  test("by filter requires a filter: without one it retries nothing, and the error names the fields", async () => {
    const id = await failed("bounced+all@backstamp.test");
    for (const body of [{}, { accept_duplicates: true }, { subject: "" }]) {
      const reply = await api("POST", "/api/emails/retry", body);
      expect(reply).toMatchObject(rejected(422, /at least one filter.*`status`/));
    }
    expect(await get(id)).toMatchObject({ status: "bounced" });
  });

  test("by filter skips permanently rejected emails unless `status` names them", async () => {
    const tags = [{ name: "batch", value: "permanent" }];
    const send = async (to: string) =>
      String((await api("POST", "/api/emails", { ...EMAIL, to, tags })).body.id);
    const [bounced, failedOne] = [
      await send("bounced@backstamp.test"),
      await send("delivered@backstamp.test"),
    ];
    await round();
    for (const table of ["emails", "deliveries"])
      await world.hot.unsafe(
        `update ${table} set status = 'failed' where ${table === "emails" ? "id" : "email_id"} = $1`,
        [failedOne],
      );
    const filter = { tag: "batch:permanent" };
    const first = await api("POST", "/api/emails/retry", filter);
    expect(first.body).toMatchObject({ count: 1, data: [{ id: failedOne }], has_more: false });
    expect((await get(bounced)).recipients.map(({ status }) => status)).toEqual(["bounced"]);
    const named = await api("POST", "/api/emails/retry", { ...filter, status: "bounced" });
    expect(named.body).toMatchObject({ count: 1, data: [{ id: bounced }] });
  });
});

describe("attachments", () => {
  const bytes = Buffer.from([0, 1, 2, 250, 255]);
  const forms: Record<string, unknown> = {
    base64: bytes.toString("base64"),
    "base64 without padding": bytes.toString("base64").replace(/=+$/, ""),
    "an array of bytes": [...bytes],
    "a Node Buffer in JSON": { type: "Buffer", data: [...bytes] },
  };

  test("of all forms arrive as the same bytes", async () => {
    const attachments = [
      ...Object.entries(forms).map(([form, content]) => ({ filename: `Über ${form}.bin`, content })),
      { filename: "logo.png", content: forms.base64, content_id: "logo" },
    ];
    const { body, status } = await api("POST", "/api/emails", { ...EMAIL, attachments });
    expect(status).toBe(200);
    await round();
    const [kept] = await world.hot<
      { raw: Uint8Array }[]
    >`select raw from captured_messages where email_id = ${String(body.id)}`;
    const read = await PostalMime.parse(kept?.raw ?? "");
    expect(
      read.attachments.map(({ filename, mimeType, disposition }) => [filename, mimeType, disposition]),
    ).toEqual([
      ["logo.png", "image/png", "inline"],
      ...Object.keys(forms).map((form) => [`Über ${form}.bin`, "application/octet-stream", "attachment"]),
    ]);
    for (const { content: got } of read.attachments)
      expect(Buffer.from(got as ArrayBuffer).equals(bytes)).toBe(true);
  });

  test("that are invalid are rejected with the name of their field", async () => {
    const before = await world.rowCounts();
    for (const [attachment, named] of [
      [{ filename: "a" }, "path"],
      [{ filename: "a", content: "" }, "not empty"],
      [{ filename: "a", path: "a.pdf" }, "begins with https://"],
      [{ filename: "a", content: "YQ==", path: "https://example.com/a" }, "not both"],
      [{ filename: "../../etc/passwd", content: "YQ==" }, "filename"],
      [{ filename: "a\u202egpj.exe", content: "YQ==" }, "filename"],
      [{ filename: "a\u0000.txt", content: "YQ==" }, "filename"],
      [{ filename: 'a"\r\nBcc: x@y.z', content: "YQ==" }, "filename"],
      [{ filename: "a".repeat(256), content: "YQ==" }, "filename"],
      [{ filename: "a", content: "YQ==", content_id: "x>\r\nBcc: x@y.z" }, "content_id"],
      [{ filename: "a", content: [1, 2, 300] }, "content"],
      [{ filename: "a", content: "YQ==", content_type: "text/plain\r\nBcc: x@y.z" }, "content_type"],
      [{ filename: "a", content: "YQ==", href: "file:///etc/passwd" }, "href"],
      [{ filename: "a", path: "file:///etc/passwd" }, "path"],
      [{ filename: "a", path: "http://127.0.0.1:1/a" }, "path"],
      [{ filename: "a", path: "https://169.254.169.254/latest/meta-data" }, "path"],
    ] as const) {
      expect(await api("POST", "/api/emails", { ...EMAIL, attachments: [attachment] })).toMatchObject(
        rejected(422, named),
      );
    }
    expect(await world.rowCounts()).toEqual(before);
  });
});

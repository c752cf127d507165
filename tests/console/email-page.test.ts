import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createKey } from "#server/services/keys/keys";
import { receiveMessage } from "#server/submission/receive";
import { type Console, openConsole } from "../support/console/console";
import { createRoleTeam, type RoleTeam } from "../support/console/role-teams";

let console: Console;
let ann: RoleTeam;
let token: string;
let nth = 0;
beforeAll(async () => {
  console = await openConsole();
});
afterAll(() => console.close());
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

async function pageOf(id: string) {
  const answer = await ann.call("viewer", "emails.get", { id });
  if (!answer.ok) throw new Error(answer.message);
  return answer.data as { idempotency_key: string | null };
}

describe("the idempotency key", () => {
  test("of each email of a request is on its page, and not in the API", async () => {
    const headers = { "idempotency-key": "order-1/receipt" };
    const one = await post("/api/emails", MAIL, headers);
    const batch = await post("/api/emails/batch", [MAIL, MAIL], headers);
    const ids = [one.id, ...batch.data.map(({ id }) => id)];
    expect(ids).toHaveLength(3);
    for (const id of ids) {
      expect(await pageOf(id)).toMatchObject({ idempotency_key: "order-1/receipt" });
      const answer = await console.world.api("GET", `/api/emails/${id}`, { token });
      expect(JSON.stringify(answer.body)).not.toContain("order-1");
    }
    // It stays when the record that recognizes a repetition expires.
    await console.world.hot`delete from idempotency_keys`;
    expect(await pageOf(one.id)).toMatchObject({ idempotency_key: "order-1/receipt" });
  });

  test("of a message submitted over SMTP is that of its header", async () => {
    const key = await console.world.deps.authenticate(token);
    if (!key) throw new Error("The key is invalid.");
    const arrival = { key, agent: null, requestId: "0190a1b2-0000-7000-8000-000000000000" };
    async function* stream() {
      yield Buffer.from(
        `From: ${MAIL.from}\r\nTo: ${MAIL.to}\r\nX-Backstamp-Idempotency-Key: smtp-1\r\nSubject: Hi\r\n\r\nHi`,
      );
    }
    const id = await receiveMessage(console.world.deps, arrival, stream(), [MAIL.to]);
    expect(await pageOf(id ?? "")).toMatchObject({ idempotency_key: "smtp-1" });
  });

  test("is null without one, for an email of an earlier release, and after the content was erased", async () => {
    const { id } = await post("/api/emails", MAIL);
    expect(await pageOf(id)).toMatchObject({ idempotency_key: null });
    const sent = await post("/api/emails", MAIL, { "idempotency-key": "order-2" });
    await console.world.hot`delete from email_bodies where email_id = ${sent.id}`;
    expect(await pageOf(sent.id)).toMatchObject({ idempotency_key: null });
  });
});

import { expect, test } from "vitest";
import { tick } from "#server/delivery/tick";
import { listAudit } from "#server/services/audit/read";
import { exportAddress } from "#server/services/erasures/export";
import { forEachTest } from "../support/fixtures";
import { createWebhookWorld } from "../support/webhook-world";

const ANN = "ann.lee@example.net";

const world = forEachTest(() => createWebhookWorld());

async function exported(): Promise<Record<string, unknown>[]> {
  let text = "";
  for await (const part of exportAddress(world.ctx, `Ann <${ANN}>`)) text += part;
  return text
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}

test("an export contains emails with content, results, events and files, suppressions and mentions, but no hidden recipients", async () => {
  const content = Buffer.alloc(1_100_000, "x");
  await world.sendByApi({
    from: "sales@example.org",
    to: [ANN, "ben@example.net"],
    bcc: "hidden@example.net",
    subject: "Hi Ann",
    html: "<p>Hi</p>",
    attachments: [{ filename: "invoice.txt", content: content.toString("base64") }],
  });
  await world.sendByApi({
    from: "sales@example.org",
    to: "ben@example.net",
    subject: "Hi Ben",
    html: `<p>${"a".repeat(500)} ask ${ANN} ${"b".repeat(500)} secret of Ben</p>`,
  });
  await world.sendByApi({
    from: "sales@example.org",
    to: "joann.lee@example.net",
    subject: "Jo",
    html: "<p>Jo</p>",
  });
  await tick(world.worker, { budgetMs: 60_000 });
  await world.ok("POST", "/api/suppressions", { email: ANN });
  await world.deps.requestLog.flush();
  await world.hot`update email_bodies set idempotency_key = 'order-1' where html = '<p>Hi</p>'`;
  const lines = await exported();
  const ofType = (type: string) => lines.filter((line) => line.type === type);
  expect(ofType("export")).toMatchObject([{ address: ANN, team_id: world.id }]);
  expect(ofType("suppression")).toMatchObject([{ address: ANN, origin: "manual" }]);
  expect(ofType("email")).toMatchObject([
    {
      subject: "Hi Ann",
      html: "<p>Hi</p>",
      idempotency_key: "order-1",
      to: [ANN, "ben@example.net"],
      bcc: [],
      deliveries: [{ address: ANN, status: "delivered" }],
    },
  ]);
  expect(ofType("file")).toMatchObject([
    { filename: "invoice.txt", content_base64: content.toString("base64") },
  ]);
  const mentions = ofType("mention");
  expect(mentions.map(({ table }) => table)).toEqual(
    expect.arrayContaining(["emails", "api_requests", "audit_log"]),
  );
  expect(JSON.stringify(mentions)).toContain(`ask ${ANN}`);
  expect(lines.at(-1)).toEqual({ type: "end" });
  const text = JSON.stringify(lines.filter(({ table }) => table !== "api_requests"));
  expect(text).not.toContain("hidden@example.net");
  expect(text).not.toContain("secret of Ben");
  expect(text).not.toContain("joann.lee");
});

test("the audit log records an export with a hash of the address", async () => {
  await exported();
  const { rows } = await listAudit(world.ctx, { limit: 1 });
  expect(rows).toMatchObject([
    { action: "address.exported", detail: { address_hash: expect.stringMatching(/^erased-[0-9a-f]{40}@/) } },
  ]);
});

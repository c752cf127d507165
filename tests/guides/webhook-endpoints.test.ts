import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createWebhook, rotateSigningSecret } from "#server/services/webhooks/endpoints";
import { getWebhookEvent } from "#server/services/webhooks/events/events";
import { sendTestEvent } from "#server/services/webhooks/events/test-event";
import { signatureHeaders } from "#server/services/webhooks/signing";
import { type Block, blocksIn } from "../guides/blocks";
import { projectRoot, startProcess, type TestProcess } from "../support/processes/processes";
import { deliverAll } from "../support/pump-engine";
import { freePort } from "../support/servers/free-port";
import { openWorld } from "../support/world";

/*
 * The endpoints of the guide to webhooks, each run unchanged by its own interpreter and called by the worker.
 */

const slowPage = { timeout: 60_000 };
const type = "email.delivered";

let folder: string;
const world = await openWorld();
beforeAll(async () => {
  folder = mkdtempSync(path.join(tmpdir(), "backstamp-snippets-"));
  // The package that `npm install` would add.
  symlinkSync(path.join(projectRoot, "node_modules"), path.join(folder, "node_modules"));
});
afterAll(async () => {
  rmSync(folder, { recursive: true, force: true });
});

const snippets = blocksIn("endpoints that verify signatures, which another test executes").map(
  (block, index) => ({ ...block, index }),
);

async function start(
  { language, text, index }: Block & { index: number },
  secret: string,
  port: number,
): Promise<TestProcess> {
  const isPython = language === "python";
  const file = path.join(folder, `webhook-${index}.${isPython ? "py" : "mjs"}`);
  writeFileSync(file, text);
  const env = { WEBHOOK_SECRET: secret, PORT: String(port) };
  const endpoint = await startProcess(isPython ? "/usr/bin/python3" : process.execPath, [file], {
    cwd: folder,
    env,
  });
  // The endpoint is ready when it rejects an unsigned request.
  await expect.poll(() => post(port, "{}", {}).catch(() => null), slowPage).toBe(400);
  return endpoint;
}

const post = async (port: number, body: string, headers: Record<string, string>): Promise<number> =>
  (await fetch(`http://127.0.0.1:${port}/hooks`, { method: "POST", body, headers })).status;

test("the guide has endpoints in three variants", () => {
  expect(snippets.map(({ language }) => language)).toEqual(["js", "js", "python"]);
});

describe.each(snippets)("the endpoint of $name", (snippet) => {
  test("accepts event deliveries, also during secret rotation, and rejects changed or old requests", async () => {
    const port = await freePort();
    const url = `http://127.0.0.1:${port}/hooks`;
    const { id, signingSecret } = await createWebhook(world.ctx, { url, events: [type], status: "enabled" });
    const endpoint = await start(snippet, signingSecret, port);
    try {
      const event = await sendTestEvent(world.ctx, id, type);
      await deliverAll(world.withTransport());
      const delivered = await getWebhookEvent(world.ctx, id, event.id);
      expect(delivered).toMatchObject({ status: "success", attempts: 1 });
      await endpoint.waitFor(new RegExp(`${event.id} ${type}`));

      const body = delivered.payload ?? "";
      const nowSeconds = Math.floor(Date.now() / 1_000);
      const signed = (agoSeconds: number, secrets = [signingSecret]) =>
        signatureHeaders({ id: event.id, timestampSeconds: nowSeconds - agoSeconds, body, secrets });
      expect(await post(port, body, signed(0))).toBe(204);
      expect(await post(port, body.replace("ben@", "eve@"), signed(0))).toBe(400);
      expect(await post(port, body, { ...signed(0), "webhook-id": "another" })).toBe(400);
      expect(await post(port, body, { ...signed(0), "webhook-timestamp": "NaN" })).toBe(400);
      expect(await post(port, body, { ...signed(0), "webhook-signature": "v1,é" })).toBe(400);
      expect(await post(port, body, signed(200))).toBe(204);
      for (const far of [400, -400]) expect(await post(port, body, signed(far))).toBe(400);
      const other = `whsec_${Buffer.alloc(24, 7).toString("base64")}`;
      expect(await post(port, body, signed(0, [other]))).toBe(400);
      expect(await post(port, body, signed(0, [other, signingSecret]))).toBe(204);

      await rotateSigningSecret(world.ctx, id);
      const second = await sendTestEvent(world.ctx, id, type);
      await deliverAll(world.withTransport());
      expect(await getWebhookEvent(world.ctx, id, second.id)).toMatchObject({ status: "success" });
    } finally {
      await endpoint.kill();
    }
  });
});

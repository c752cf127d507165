import { existsSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { projectRoot, runToExit, startProcess } from "../support/processes/processes";
import { createWebhookWorld, type WebhookWorld } from "../support/webhook-world";
import { type Block, blocksIn } from "./blocks";

/*
 * Executes the samples of the guides, unchanged and in their order, against an API with the domain of the
 * samples, and sends their JSON to it. What a sample refers to is created by a sample before it, or is an id
 * that the reader sets.
 */

const INTERPRETERS: Record<string, { command: string; file: string }> = {
  sh: { command: "/bin/sh", file: "sample.sh" },
  js: { command: process.execPath, file: "sample.mjs" },
  python: { command: "/usr/bin/python3", file: "sample.py" },
  php: { command: "/usr/bin/php", file: "sample.php" },
};
const interpreterOf = ({ language }: Block) => {
  const found = INTERPRETERS[language];
  if (!found) throw new Error(`No interpreter for ${language}`);
  return found;
};

/** Calls a function that a framework calls, as it would, and prints the response. */
const CALLER = `let handle;
globalThis.Deno = { env: { get: (name) => process.env[name] }, serve: (handler) => (handle = handler) };
const { POST = handle } = await import("./sample.mjs");
const body = JSON.stringify({ id: "1", email: "delivered@backstamp.test" });
const response = await (POST ?? handle)(new Request("http://localhost", { method: "POST", body }));
console.log(await response.text());
process.exitCode = response.ok ? 0 : 1;`;
const isCalled = ({ text }: Block) => /^(export async function POST|Deno\.serve)\(/m.test(text);

let world: WebhookWorld;
let folder: string;
let variables: Record<string, string>;
beforeAll(async () => {
  world = await createWebhookWorld();
  folder = mkdtempSync(path.join(tmpdir(), "backstamp-guides-"));
  // The packages that `npm install` would add.
  symlinkSync(path.join(projectRoot, "node_modules"), path.join(folder, "node_modules"));
  const domain = await world.domain("example.com");
  const endpoint = await world.ok("POST", "/api/webhooks", {
    endpoint: "https://93.184.215.14/hooks",
    events: ["email.bounced"],
  });
  const emailId = await world.sendByApi({ scheduled_at: "in 2 hours" });
  variables = {
    BACKSTAMP_URL: world.baseUrl,
    BACKSTAMP_KEY: world.token,
    DOMAIN_ID: domain.id,
    WEBHOOK_ID: String(endpoint.id),
    EMAIL_ID: emailId,
  };
});
afterAll(async () => {
  await world.close();
  rmSync(folder, { recursive: true, force: true });
});

describe("executed samples", () => {
  for (const block of blocksIn("executed"))
    test.runIf(existsSync(interpreterOf(block).command))(`${block.name} (${block.language})`, async () => {
      const { command, file } = interpreterOf(block);
      writeFileSync(path.join(folder, file), block.text);
      const started = isCalled(block) ? path.join(folder, "caller.mjs") : path.join(folder, file);
      writeFileSync(path.join(folder, "caller.mjs"), CALLER);
      const env = { PATH: process.env.PATH ?? "", ...variables };
      const { code, stdout, stderr } = await runToExit(
        await startProcess(command, [started], { cwd: folder, env }),
      );
      expect({ code, stderr, stdout }).toMatchObject({ code: 0, stderr: "" });
      expect(stdout).not.toBe("");
    });

  test("the samples of the guide to sending were accepted, and the dry run stored nothing", async () => {
    const languages = ["curl", ...["js", "python", "php"].filter(isInstalled)];
    const sent = await world.ok("GET", "/api/emails?sender=orders@example.com");
    expect((sent.data as { subject: string }[]).map(({ subject }) => subject)).toEqual(
      languages.map(() => "Your receipt"),
    );
  });
});

const isInstalled = (language: string) => existsSync(INTERPRETERS[language]?.command ?? "");

test("each JSON sample is accepted by the operation that it names", async () => {
  const ids: Record<string, string | undefined> = { webhooks: variables.WEBHOOK_ID };
  for (const { name, about, text } of blocksIn("sent as JSON")) {
    const [method = "", route = ""] = about.split(" ");
    const target = route.replace("{id}", ids[route.split("/")[2] ?? ""] ?? "{id}");
    const reply = await world.api(method, target, { token: world.token, body: JSON.parse(text) });
    expect([name, reply.status < 300, reply.text]).toEqual([name, true, expect.any(String)]);
  }
});

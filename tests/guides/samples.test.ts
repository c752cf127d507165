import { existsSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import Ajv from "ajv/dist/2020";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { projectRoot, runToExit, startProcess } from "../support/processes/processes";
import { createWebhookWorld, type WebhookWorld } from "../support/webhook-world";
import { type Block, blocksIn } from "./blocks";

/*
 * Executes the samples of the guides, unchanged, against an API, and validates their JSON against its
 * description.
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

type Operation = { requestBody?: { content: Record<string, { schema: object }> } };
type Document = { paths: Record<string, Record<string, Operation>>; components: object };

let world: WebhookWorld;
let folder: string;
let variables: Record<string, string>;
beforeAll(async () => {
  world = await createWebhookWorld();
  folder = mkdtempSync(path.join(tmpdir(), "backstamp-guides-"));
  // The packages that `npm install` would add.
  symlinkSync(path.join(projectRoot, "node_modules"), path.join(folder, "node_modules"));
  const domain = await world.domain("example.com");
  const template = await world.ok("POST", "/api/templates", {
    name: "Receipt",
    alias: "receipt-for-samples",
    subject: "Your receipt",
    html: "<p>Thank you, {{name}}.</p>",
  });
  const endpoint = await world.ok("POST", "/api/webhooks", {
    endpoint: "https://93.184.215.14/hooks",
    events: ["email.bounced"],
  });
  const emailId = await world.sendByApi({ scheduled_at: "in 2 hours" });
  variables = {
    BACKSTAMP_URL: world.baseUrl,
    BACKSTAMP_KEY: world.token,
    DOMAIN_ID: domain.id,
    TEMPLATE_ID: String(template.id),
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
      const env = { PATH: process.env.PATH ?? "", ...variables };
      const { code, stdout, stderr } = await runToExit(
        await startProcess(command, [path.join(folder, file)], { cwd: folder, env }),
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

test("each JSON sample is valid for the operation that it names", async () => {
  const document = (await world.api("GET", "/api/openapi.json")).body as Document;
  // `tests/rest/openapi.test.ts` validates the schemas themselves.
  const ajv = new Ajv({ strict: false, validateFormats: false, validateSchema: false });
  for (const { name, about, text } of blocksIn("validated as JSON")) {
    const [method = "", route = ""] = about.split(" ");
    const operation = document.paths[route]?.[method.toLowerCase()];
    const schema = operation?.requestBody?.content["application/json"]?.schema;
    expect([name, schema]).toEqual([name, expect.any(Object)]);
    const isValid = ajv.compile({ ...schema, components: document.components });
    expect([name, isValid(JSON.parse(text)), isValid.errors]).toEqual([name, true, null]);
  }
});

import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { formatSamples } from "../../app/console/overview/setup/samples";
import { hasPython, runPython } from "../support/processes/samples";
import { openWorld } from "../support/world";

if (!hasPython())
  process.stdout.write("NOT RUN: Debian's python3 is not on this machine; its example is not executed.\n");

const run = promisify(execFile);
const world = await openWorld();
const publicUrl = world.baseUrl.replace(/\/api$/, "");

const textOf = (language: string, token: string | null) =>
  formatSamples({
    publicUrl,
    domain: null,
    hasTransport: true,
    ownAddress: "ann@example.org",
    token,
    smtp: { port: 2525, isImplicitTls: false, hasTls: false },
  }).find(({ value }) => value === language)?.text ?? "";

describe("the examples for a first email", () => {
  test("with a key send it, and without one read the key from the environment", async () => {
    const { token } = await world.key({ scopes: ["emails:send"] });
    for (const key of [token, null]) {
      const environment = { ...process.env, BACKSTAMP_KEY: token };
      const shell = await run("sh", ["-c", textOf("curl", key)], { env: environment });
      expect(JSON.parse(shell.stdout)).toEqual({ id: expect.any(String) });
      const node = await run("node", ["--input-type=module", "-e", textOf("node", key)], {
        env: environment,
      });
      expect(node.stdout).toContain("id:");
    }
  });

  test.runIf(hasPython())("in Python send it, with a key and without one", async () => {
    const { token } = await world.key({ scopes: ["emails:send"] });
    const runs = [token, null].map((key) => ({ source: textOf("python", key), baseUrl: world.baseUrl }));
    const id = expect.stringMatching(/^\{'id': '[0-9a-f-]{36}'\}\n$/);
    expect(await runPython(runs, token)).toEqual([id, id]);
  });

  test("send from the team's verified domain, and to a real recipient only if email leaves", () => {
    const curlOf = (domain: string | null, hasTransport: boolean, ownAddress = "ann@example.org") =>
      formatSamples({ publicUrl, domain, hasTransport, ownAddress, token: null, smtp: null })[0]?.text;
    expect(curlOf("shop.example", true)).toMatch(/hello@shop\.example>"[\s\S]*"to": "ann@example\.org"/);
    const simulated = /hello@shop\.example>"[\s\S]*"to": "delivered@backstamp\.test"/;
    expect(curlOf("shop.example", false)).toMatch(simulated);
    // The first user of an installation, who has no mailbox.
    expect(curlOf("shop.example", true, "admin@backstamp.test")).toMatch(simulated);
    for (const hasTransport of [true, false])
      expect(curlOf(null, hasTransport)).toMatch(
        /hello@backstamp\.test>"[\s\S]*"to": "delivered@backstamp\.test"/,
      );
  });

  test("name the port for programs that speak SMTP, encrypted where it is", () => {
    const smtpOf = (smtp: { port: number; isImplicitTls: boolean; hasTls: boolean } | null) =>
      formatSamples({
        publicUrl: "https://mail.example.org",
        domain: "example.org",
        hasTransport: true,
        ownAddress: "ann@example.org",
        token: null,
        smtp,
      }).find(({ value }) => value === "smtp")?.text;
    expect(smtpOf(null)).toBeUndefined();
    expect(smtpOf({ port: 2465, isImplicitTls: true, hasTls: true })).toContain(
      "smtps://mail.example.org:2465",
    );
    expect(smtpOf({ port: 2587, isImplicitTls: false, hasTls: true })).toContain(
      "smtp://mail.example.org:2587 --ssl-reqd",
    );
  });
});

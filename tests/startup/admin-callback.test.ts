import { expect, test } from "vitest";
import { createKeyring } from "#server/platform/secrets/keyring";
import { createVault } from "#server/platform/secrets/vault";
import { getCallbackRelay, openCallbackSecret } from "#server/services/callbacks/secrets";
import { installationSecret } from "../support/deps";
import { forAllTests } from "../support/fixtures";
import { runCommand } from "../support/processes/command-line";
import { relayTo } from "../support/relays";
import { fakeSendgrid } from "../support/servers/providers";
import { createWorld } from "../support/world";

const secret = installationSecret;
const vault = createVault(createKeyring([secret]));
const url = "https://mail.example.com";
const world = forAllTests(() => createWorld());

const backstamp = (args: string[], input?: string) =>
  runCommand(["callback", ...args], {
    env: { DATABASE_URL: world.databaseUrl, BACKSTAMP_SECRET: secret, BACKSTAMP_URL: url },
    ...(input === undefined ? {} : { input }),
  });

async function json(args: string[]): Promise<Record<string, unknown>> {
  const { code, stdout, stderr } = await backstamp([...args, "--json"]);
  expect({ code, stderr: code === 0 ? "" : stderr }).toEqual({ code: 0, stderr: "" });
  return JSON.parse(stdout);
}

const secretOf = async (id: string) => {
  const relay = await getCallbackRelay(world.hot, id);
  return relay && openCallbackSecret({ vault }, relay);
};

test("callback set accepts a provider's calls with its secret, and callback off rejects them", async () => {
  const { id } = await relayTo(world.deps, { port: 1 }, { name: "pm", provider: "postmark" });
  const address = `${url}/api/inbound/relays/${id}`;
  const made = await json(["set", "pm"]);
  expect(made).toEqual({
    relay_id: id,
    relay: "pm",
    provider: "postmark",
    url: address,
    is_accepted: true,
    topic: null,
    secret: expect.stringMatching(/^[\w-]{32}$/),
  });
  expect(await secretOf(id)).toBe(made.secret);
  const shown = await backstamp(["show", id]);
  expect(shown.stdout).toContain(`Url  ${address}`);
  expect(shown.stdout).toContain("Calls from Postmark are accepted.");
  expect(shown.stdout).not.toContain(made.secret);
  expect(await json(["off", "pm"])).toMatchObject({ is_accepted: false });
  expect(await secretOf(id)).toBeNull();
});

test("callback set prints the URL of a provider that needs a secret or a topic, and the next step", async () => {
  const { id } = await relayTo(world.deps, { port: 3 }, { name: "main", provider: "ses" });
  const { code, stdout } = await backstamp(["set", "main"]);
  expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringContaining(`/inbound/relays/${id}\n`) });
  expect(stdout).toMatch(/not accepted yet\. Then run: callback set main --topic ARN\n$/);
});

test("a secret is read from standard input, and an invalid one is rejected with the expected format", async () => {
  const { id } = await relayTo(world.deps, { port: 2 }, { name: "sg", provider: "sendgrid" });
  const { secret: key = "" } = fakeSendgrid().given;
  const { code, stdout } = await backstamp(["set", "sg", "--secret", "-"], `${key}\n`);
  expect({ code, stdout }).toEqual({
    code: 0,
    stdout: expect.stringContaining("Calls from SendGrid are accepted."),
  });
  expect(await secretOf(id)).toBe(key);
  const refused = await backstamp(["set", "sg", "--secret", "whsec_x"]);
  expect(refused).toMatchObject({ code: 1, stderr: expect.stringMatching(/verification key/) });
  expect(await secretOf(id)).toBe(key);
});

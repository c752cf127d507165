import { expect, test } from "vitest";
import { installationSecret } from "../support/deps";
import { closeAfterTest, forAllTests } from "../support/fixtures";
import { commandsOf } from "../support/processes/command-line";
import { deliverDue } from "../support/pump-engine";
import { transportTo } from "../support/relays";
import { startSmtpTestServer } from "../support/servers/smtp-test-server";
import { createWorld } from "../support/world";

const world = forAllTests(() => createWorld({ transportKind: "relay" }));

const { cliJson } = commandsOf(() => ({
  DATABASE_URL: world.databaseUrl,
  BACKSTAMP_SECRET: installationSecret,
}));

test("a domain that is added as verified signs its first email with the key that domain show creates", async () => {
  const server = closeAfterTest(await startSmtpTestServer({}));
  await cliJson(["domain", "add", "oak.example", "--verified"]);
  await cliJson(["domain", "show", "oak.example"]);
  await world.send({ sender: "ann@oak.example" });
  await deliverDue(world.withTransport(closeAfterTest(transportTo(server))));
  expect(server.messages.map(({ bytes }) => bytes.toString().slice(0, 16))).toEqual(["DKIM-Signature: "]);
});

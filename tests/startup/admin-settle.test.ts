import { expect, test } from "vitest";
import { tick } from "#server/delivery/tick";
import { relayTo } from "../mail/relay-world";
import { forAllTests } from "../support/fixtures";
import { runCommand } from "../support/processes/command-line";
import { DROP, startSmtpTestServer } from "../support/servers/smtp-test-server";
import { createWorld } from "../support/world";

const world = forAllTests(() => createWorld({ transportKind: "relay" }));
// The first message never gets a reply after the final dot.
const peer = forAllTests(() => startSmtpTestServer({ message: [DROP, "250 2.0.0 kept"] }));

const backstamp = (...args: string[]) => runCommand(args, { env: { DATABASE_URL: world.databaseUrl } });

async function round(): Promise<void> {
  const transport = relayTo(peer);
  await tick(world.withTransport(transport), { budgetMs: 60_000 });
  await transport.close();
}

const statusesOf = async (id: string) => (await world.email(id)).deliveries.map(({ status }) => status);

test("with the policy hold, email with an unknown outcome is resolved by the command, once for each recipient", async () => {
  expect(await backstamp("team", "set", "First", "--unknown", "hold")).toMatchObject({ code: 0 });
  const { id } = await world.send({ to: ["ann@example.net", "ben@example.net"] });
  await round();
  await round();
  expect(await statusesOf(id)).toEqual(["unknown", "unknown"]);
  expect(peer.messages).toHaveLength(1);

  const sent = await backstamp("email", "settle", id, "--as", "sent", "--recipient", "ann@example.net");
  expect(sent).toMatchObject({ code: 0, stdout: expect.stringContaining("ann@example.net") });
  const retried = await backstamp("email", "settle", id, "--as", "retry", "--json");
  expect(JSON.parse(retried.stdout)).toEqual({ id, settled: ["ben@example.net"] });
  await round();
  expect(await statusesOf(id)).toEqual(["sent", "sent"]);
  expect(peer.messages.map(({ to }) => to)).toEqual([
    ["ann@example.net", "ben@example.net"],
    ["ben@example.net"],
  ]);
  const again = await backstamp("email", "settle", id, "--as", "sent");
  expect(again).toMatchObject({ code: 1, stderr: expect.stringContaining("Only unknown outcomes") });
});

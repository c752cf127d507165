import { expect, test } from "vitest";
import { tick } from "#server/delivery/tick";
import { newId } from "#server/platform/ids";
import { relayTo } from "../mail/relay-world";
import { leaseEmail } from "../support/database/leases";
import { forAllTests } from "../support/fixtures";
import { runCommand } from "../support/processes/command-line";
import { startSmtpTestServer } from "../support/servers/smtp-test-server";
import { createWorld } from "../support/world";

const world = forAllTests(() => createWorld({ transportKind: "relay" }));
const peer = forAllTests(() => startSmtpTestServer({}));

const backstamp = (...args: string[]) => runCommand(args, { env: { DATABASE_URL: world.databaseUrl } });

async function deliver(): Promise<string[]> {
  const transport = relayTo(peer);
  await tick({ ...world.deps, transport }, { budgetMs: 60_000 });
  await transport.close();
  return peer.messages.flatMap(({ to }) => to);
}

test("the queue of a copied database is held before a worker starts, and release sends it", async () => {
  const { hot } = world;
  await world.send({ to: ["queued@example.net"], subject: "queued" });
  await world.send({ to: ["later@example.net"], subject: "later", scheduledAt: "in 2 hours" });
  const { id } = await world.send({ to: ["sending@example.net"], subject: "sending" });
  await leaseEmail(hot, id);
  await hot`update emails set status = 'sending' where id = ${id}`;
  await hot`insert into return_copies (id, team_id, email_id, delivery_id, kind, message_hash, message, recipient, expires_at)
    values (${newId()}, ${world.id}, ${id}, ${newId()}, 'reply', 'hash', 'Hi', 'ops@example.org', now() + interval '4 days')`;
  const heldOf = async () => (await hot`select from deliveries where wait_rule = 'restored'`).length;

  const unconfirmed = await backstamp("hold");
  expect(unconfirmed).toMatchObject({ code: 1, stderr: expect.stringContaining("Add --confirm") });
  const worker = newId();
  await hot`insert into workers (id, host, pid, transport) values (${worker}, 'first', 17, 'relay')`;
  expect(await backstamp("hold", "--confirm")).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("A worker is active (process 17 on first)"),
  });
  expect(await heldOf()).toBe(0);

  await hot`update workers set beat_at = now() - interval '1 hour' where id = ${worker}`;
  const held = await backstamp("hold", "--confirm");
  expect(held).toMatchObject({ code: 0, stdout: expect.stringContaining("2 deliveries are held.") });
  expect(held.stdout).toContain("With an unknown outcome: 1 delivery.");
  expect(await deliver()).toEqual([]);
  expect(await hot`select status, message from return_copies`).toEqual([{ status: "failed", message: null }]);
  expect(await hot`select held, taken_at < now() - interval '59 min' as old from restores`).toEqual([
    { held: 2, old: true },
  ]);

  expect(await backstamp("release", "--all")).toMatchObject({ code: 0 });
  expect(await deliver()).toEqual(["queued@example.net"]);
  expect(await heldOf()).toBe(0);
});

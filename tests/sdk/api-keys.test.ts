import { expect, test } from "vitest";
import type { Sdk } from "./clients";
import { data, describeClients, errorOf, startTestServer } from "./test-server";

const testServer = await startTestServer();

const FORBIDDEN = { error: "Insufficient API key permissions" };

describeClients(testServer, (client, account) => {
  test("a key with full access works immediately, is listed, can be renamed, and is rejected after its removal", async () => {
    const { sdk, mail } = account;
    const { id, token } = await data(sdk.apiKeys.create({ name: "Whole", permission: "full_access" }));
    expect(token).toMatch(/^re_/);
    const other = testServer.open(client, token);
    await data(other.emails.send(mail));
    await data(other.domains.list());
    const row = async () => (await data(sdk.apiKeys.list())).data.find((key) => key.id === id);
    expect(await row()).toMatchObject({ id, name: "Whole", created_at: expect.stringMatching(/Z$/) });
    expect(JSON.stringify(await row())).not.toContain(token);
    expect(await data(sdk.apiKeys.update(id, { name: "Renamed" }))).toEqual({ object: "api_key", id });
    expect(await row()).toMatchObject({ name: "Renamed" });
    expect(await data(sdk.apiKeys.remove(id))).toEqual({ object: "api_key", id, deleted: true });
    await expect.poll(async () => (await other.emails.list()).error).toEqual({ error: "Unauthorized" });
    expect(await row()).toBeUndefined();
  });

  test("a key with sending access can only send from its domain", async () => {
    const { sdk, mail, team, domain } = account;
    const { id: domain_id } = await team.domain(`linked.${domain}`);
    const { token } = await data(
      sdk.apiKeys.create({ name: "Sender", permission: "sending_access", domain_id }),
    );
    const sender: Sdk = testServer.open(client, token);
    await data(sender.emails.send({ ...mail, from: `ann@linked.${domain}` }));
    expect(await errorOf(sender.emails.send(mail))).toEqual(FORBIDDEN);
    for (const call of [sender.emails.list(), sender.domains.list(), sender.apiKeys.create({ name: "x" })])
      expect(await errorOf(call)).toEqual(FORBIDDEN);
  });
});

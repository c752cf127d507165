import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { tick } from "#server/delivery/tick";
import { createRelay } from "#server/mail/transport/relay";
import { parseSmtpUrl } from "#server/mail/transport/smtp-url";
import { startSmtpTestServer } from "../support/servers/smtp-test-server";
import { CLIENTS } from "./clients";
import { data, errorOf, errorWith, startTestServer, type TestAccount, type TestServer } from "./test-server";

let testServer: TestServer;
beforeAll(async () => {
  testServer = await startTestServer();
});
afterAll(() => testServer.close());

/** One delivery round to a mail server that rejects every recipient. */
async function deliverWithRejection(): Promise<void> {
  const peer = await startSmtpTestServer({ rcpt: "550 5.1.1 No such user here" });
  const url = parseSmtpUrl(`smtp://127.0.0.1:${peer.port}`);
  if (!url.ok) throw new Error(url.fault);
  const transport = createRelay(url.target);
  await tick({ ...testServer.world.worker, transport }, { budgetMs: 20_000 });
  await transport.close();
  await peer.close();
}

describe.each(CLIENTS)("$name", (client) => {
  let account: TestAccount;
  beforeAll(async () => {
    account = await testServer.account(client);
  });

  test("an address is added, read by address or id, and removed", async () => {
    const { sdk, mail } = account;
    const email = "odd+one%20/two@example.net";
    const { id } = await data(sdk.suppressions.add({ email }));
    expect(await data(sdk.suppressions.add({ email }))).toEqual({ object: "suppression", id });
    for (const name of [id, email])
      expect(await data(sdk.suppressions.get(name))).toEqual({
        object: "suppression",
        id,
        email,
        origin: "manual",
        source_id: null,
        lists_only: false,
        created_at: expect.stringMatching(/Z$/),
      });
    const sent = await data(sdk.emails.send({ ...mail, to: email }));
    await testServer.world.round();
    expect((await data(sdk.emails.get(sent.id))).last_event).toBe("suppressed");
    expect(await data(sdk.suppressions.remove(email))).toEqual({ object: "suppression", id, deleted: true });
    expect(await errorOf(sdk.suppressions.get(email))).toEqual(errorWith(404, "not_found"));
  });

  test("a hard bounce suppresses its recipient, with the id of the bounced email", async () => {
    const { sdk, mail } = account;
    const { id } = await data(sdk.emails.send({ ...mail, to: "gone@example.net" }));
    await deliverWithRejection();
    expect((await data(sdk.emails.get(id))).last_event).toBe("bounced");
    const { data: rows } = await data(sdk.suppressions.list({ origin: "bounce" }));
    expect(rows).toMatchObject([{ email: "gone@example.net", origin: "bounce", source_id: id }]);
    expect((await data(sdk.suppressions.list({ origin: "complaint" }))).data).toEqual([]);
  });

  test("many addresses are added and removed in one call, and the list supports both cursors", async () => {
    const { sdk } = await testServer.account(client);
    const emails = ["a@example.net", "b@example.net", "c@example.net"];
    const added = await data(sdk.suppressions.batch.add({ emails }));
    expect(added.data).toEqual(emails.map(() => ({ object: "suppression", id: expect.any(String) })));
    const all = (await data(sdk.suppressions.list())).data.map(({ id }) => id);
    expect(new Set(all)).toEqual(new Set(added.data.map(({ id }) => id)));
    const page = async (options: Parameters<typeof sdk.suppressions.list>[0]) =>
      (await data(sdk.suppressions.list(options))).data.map(({ id }) => id);
    expect(await page({ limit: 1, after: all[0] ?? "" })).toEqual(all.slice(1, 2));
    expect(await page({ limit: 1, before: all[2] ?? "" })).toEqual(all.slice(1, 2));
    expect((await data(sdk.suppressions.batch.remove({ emails: ["a@example.net"] }))).data).toEqual([
      { object: "suppression", id: added.data[0]?.id, deleted: true },
    ]);
    const ids = added.data.slice(1).map(({ id }) => id);
    expect((await data(sdk.suppressions.batch.remove({ ids }))).data).toHaveLength(2);
    expect((await data(sdk.suppressions.list())).data).toEqual([]);
  });

  test("an error names the reason", async () => {
    const { sdk } = account;
    expect(await errorOf(sdk.suppressions.add({ email: "nobody" }))).toEqual(
      errorWith(422, "validation_error", /email/),
    );
    const emails = Array.from({ length: 101 }, (_, n) => `n${n}@example.net`);
    expect(await errorOf(sdk.suppressions.batch.add({ emails }))).toEqual(
      errorWith(422, "validation_error", /100/),
    );
    expect(await errorOf(sdk.suppressions.get(randomUUID()))).toEqual(errorWith(404, "not_found"));
    expect(await errorOf(sdk.suppressions.remove("nobody@example.net"))).toEqual(errorWith(404, "not_found"));
  });
});

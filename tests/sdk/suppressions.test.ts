import { expect, test } from "vitest";
import { data, describeClients, errorOf, errorWith, startTestServer } from "./test-server";

const testServer = await startTestServer();

describeClients(testServer, (client, account) => {
  test("an address is added, read by address or id, and removed", async () => {
    const { sdk } = account;
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
        lists: null,
        created_at: expect.stringMatching(/Z$/),
      });
    expect(await data(sdk.suppressions.remove(email))).toEqual({ object: "suppression", id, deleted: true });
    expect(await errorOf(sdk.suppressions.get(email))).toEqual(errorWith(404, "not_found"));
  });

  test("many addresses are added, listed and removed in one call", async () => {
    const { sdk } = await testServer.account(client);
    const emails = ["a@example.net", "b@example.net", "c@example.net"];
    const added = await data(sdk.suppressions.batch.add({ emails }));
    expect(added.data).toEqual(emails.map(() => ({ object: "suppression", id: expect.any(String) })));
    const all = (await data(sdk.suppressions.list())).data.map(({ id }) => id);
    expect(new Set(all)).toEqual(new Set(added.data.map(({ id }) => id)));
    expect((await data(sdk.suppressions.list({ origin: "complaint" }))).data).toEqual([]);
    expect((await data(sdk.suppressions.batch.remove({ emails: ["a@example.net"] }))).data).toEqual([
      { object: "suppression", id: added.data[0]?.id, deleted: true },
    ]);
    const ids = added.data.slice(1).map(({ id }) => id);
    expect((await data(sdk.suppressions.batch.remove({ ids }))).data).toHaveLength(2);
    expect((await data(sdk.suppressions.list())).data).toEqual([]);
  });
});

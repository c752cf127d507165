import { randomUUID } from "node:crypto";
import { expect, test, vi } from "vitest";
import { data, describeClients, errorOf, errorWith, startTestServer } from "./test-server";

const testServer = await startTestServer();

describeClients(testServer, (client, account) => {
  test("the request log contains the user agent of the client", async () => {
    const { sdk, mail } = account;
    const sent = await data(sdk.emails.send(mail));
    await errorOf(sdk.emails.get(randomUUID()));
    await testServer.world.deps.requestLog.flush();
    const { data: rows } = await data(sdk.logs.list());
    expect(rows.map(({ method, response_status }) => [method, response_status])).toEqual([
      ["GET", 404],
      ["POST", 200],
    ]);
    const [, first] = rows;
    expect(first).toMatchObject({
      endpoint: "/emails",
      user_agent: expect.stringMatching(/^resend-node:6\.\d+\.\d+$/),
      created_at: expect.stringMatching(/Z$/),
    });
    expect(await data(sdk.logs.get(first?.id ?? ""))).toMatchObject({
      object: "log",
      id: first?.id,
      request_body: expect.objectContaining({ subject: "Hello" }),
      response_body: { id: sent.id },
    });
    expect(await errorOf(sdk.logs.get(randomUUID()))).toEqual(errorWith(404, "not_found"));
  });

  // The older client has no such call.
  if (client.isNewest)
    test("usage counts sent emails", async () => {
      const { sdk, mail } = await testServer.account(client);
      const { id } = await data(sdk.emails.send(mail));
      await testServer.sentMessage(id);
      const counts = { used: 1, limit: null, sent: 1, received: 0, resets_at: expect.stringMatching(/Z$/) };
      // Events are counted once no older transaction is open.
      await vi.waitFor(async () => {
        await testServer.world.round();
        expect(await data(sdk.usage.get())).toMatchObject({
          object: "usage",
          emails: { daily: counts, monthly: counts },
          domains: { used: expect.any(Number), limit: null },
          rate_limit: { limit: expect.any(Number), duration: expect.any(String) },
        });
      }, 20_000);
    });

  // The older client has no such call.
  if (client.isNewest)
    test("metrics count the recipients of sent emails by day and domain", async () => {
      const { sdk, mail } = await testServer.account(client);
      const { id } = await data(sdk.emails.send(mail));
      await testServer.sentMessage(id);
      await vi.waitFor(async () => {
        const metrics = await data(
          sdk.emails.metrics({
            metrics: ["received", "delivered", "delivery_rate"],
            dimensions: ["period", "domain"],
            granularity: "daily",
            timezone: "Europe/Berlin",
          }),
        );
        const counts = { received: 1, delivered: 1, delivery_rate: 100 };
        expect(metrics).toMatchObject({ object: "metrics", granularity: "daily", totals: counts });
        expect(metrics.data).toEqual([
          {
            period: expect.stringMatching(/^\d{4}-\d\d-\d\d$/),
            domain_id: expect.any(String),
            domain_name: expect.any(String),
            ...counts,
          },
        ]);
      }, 20_000);
      const ofEmail = await data(
        sdk.emails.metrics({ emailId: [id], dimensions: ["email"], metrics: ["delivered"] }),
      );
      expect(ofEmail.data).toEqual([{ email_id: id, delivered: 1 }]);
    });
});

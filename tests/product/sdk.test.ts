import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { CLIENTS, resolveAllHostsToLoopback } from "../sdk/clients";
import { forAllTests } from "../support/fixtures";
import { startHttpSink } from "../support/servers/http-sink";
import { openTarget, type Target } from "../support/target";

let target: Target;
let token: string;
const sink = forAllTests(() => startHttpSink());
let endNaming = async (): Promise<void> => {};
beforeAll(async () => {
  target = await openTarget();
  const limits = { "POST /api/emails": 1_000, "GET /api/emails": 1_000, other: 1_000 };
  ({ token } = await target.mintKey({ scopes: ["full_access"], limits }));
  endNaming = resolveAllHostsToLoopback();
});
afterAll(async () => {
  await endNaming();
  await target.close();
});

async function data<T>(calling: PromiseLike<{ data: T | null; error: unknown }>): Promise<T> {
  const { data, error } = await calling;
  if (data === null) throw new Error(JSON.stringify(error));
  return data;
}

describe.each(CLIENTS)("$name", (client) => {
  test("the official client sends an email, which is delivered and reported to an endpoint with a valid signature", async () => {
    const sdk = client.open(Number(new URL(target.baseUrl).port), token);
    const path = `/${client.isNewest}/${client.isAtRoot}`;
    const { id: webhookId, signing_secret: webhookSecret } = await data(
      sdk.webhooks.create({ endpoint: `http://127.0.0.1:${sink.port}${path}`, events: ["email.delivered"] }),
    );
    const template = await data(
      sdk.templates
        .create({ name: "Welcome", subject: "Hello {{{NAME}}}", html: "<p>{{{NAME}}}</p>" })
        .publish(),
    );
    const { id } = await data(
      sdk.emails.send({
        from: "Ann <ann@backstamp.test>",
        to: "delivered@backstamp.test",
        template: { id: template.id, variables: { NAME: "Ben" } },
      }),
    );
    await expect
      .poll(() => sink.received.filter((request) => request.path === path), { timeout: 60_000 })
      .toHaveLength(1);
    const request = sink.received.find((one) => one.path === path);
    const header = (name: string) => String(request?.headers[`svix-${name}`]);
    const headers = { id: header("id"), timestamp: header("timestamp"), signature: header("signature") };
    expect(sdk.webhooks.verify({ payload: request?.body ?? "", headers, webhookSecret })).toMatchObject({
      type: "email.delivered",
      data: { email_id: id, subject: "Hello Ben" },
    });
    expect((await data(sdk.emails.get(id))).last_event).toBe("delivered");
    await data(sdk.webhooks.remove(webhookId));
  });
});

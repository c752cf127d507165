import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import type { ErrorCode } from "#server/platform/errors";
import type { Sdk } from "./clients";
import { data, describeClients, errorOf, errorWith, startTestServer, type TestAccount } from "./test-server";

const testServer = await startTestServer({ bodyMaxBytes: 1_000_000 });

type Case = {
  /** The error that the client returns. */
  error: unknown;
  cause(account: TestAccount): PromiseLike<{ data: unknown; error: unknown }>;
};

const send = ({ sdk, mail }: TestAccount, change: object) =>
  sdk.emails.send({ ...mail, ...change } as Parameters<Sdk["emails"]["send"]>[0]);

/** An error that the client cannot cause, because it sends a complete body. */
type ConnectionError = "too_slow";
type DatabaseError = "idempotency_running" | "unavailable" | "internal";

/** Every error that a caller can get, except those of the database. */
const CASES: Record<
  Exclude<ErrorCode, "unauthorized" | "rate_limited" | ConnectionError | DatabaseError>,
  Case
> = {
  bad_json: {
    error: errorWith(400, "validation_error", /JSON object/),
    cause: ({ sdk }) => sdk.post("/emails", []),
  },
  bad_idempotency_key: {
    error: errorWith(400, "invalid_idempotency_key", /256/),
    cause: ({ sdk, mail }) => sdk.emails.send(mail, { idempotencyKey: "x".repeat(257) }),
  },
  forbidden: {
    error: { error: "Insufficient API key permissions" },
    cause: (account) => send(account, { from: "ann@elsewhere.example" }),
  },
  not_found: {
    error: errorWith(404, "not_found", /^Email not found$/),
    cause: ({ sdk }) => sdk.emails.get(randomUUID()),
  },
  method_not_allowed: {
    error: errorWith(405, "method_not_allowed", /Use GET or HEAD or POST|Use POST or GET/),
    cause: ({ sdk }) => sdk.put("/emails", {}),
  },
  conflict: {
    error: errorWith(409, "validation_error", /scheduled/),
    cause: async (account) => account.sdk.emails.cancel((await data(send(account, {}))).id),
  },
  idempotency_mismatch: {
    error: errorWith(409, "invalid_idempotent_request"),
    cause: async ({ sdk, mail }) => {
      const idempotencyKey = randomUUID();
      await data(sdk.emails.send(mail, { idempotencyKey }));
      return sdk.emails.send({ ...mail, subject: "Other" }, { idempotencyKey });
    },
  },
  too_large: {
    error: errorWith(413, "validation_error", /large|MB|bytes/i),
    cause: (account) => send(account, { html: "x".repeat(1_000_001) }),
  },
  wrong_content_type: {
    error: errorWith(415, "validation_error", /application\/json/),
    cause: ({ sdk, mail }) => sdk.emails.send(mail, { headers: { "Content-Type": "text/plain" } }),
  },
  missing_field: {
    error: errorWith(422, "missing_required_field", /`subject`/),
    cause: (account) => send(account, { subject: undefined }),
  },
  invalid: {
    error: errorWith(422, "validation_error", /`to`/),
    cause: (account) => send(account, { to: "nobody" }),
  },
  invalid_attachment: {
    error: errorWith(422, "invalid_attachment"),
    cause: (account) =>
      send(account, { attachments: [{ filename: "a.txt", path: "http://10.0.0.1/a.txt" }] }),
  },
  invalid_sender: {
    error: errorWith(422, "invalid_from_address", /is disabled/),
    cause: async (account) => {
      const { id, name } = await account.team.domain(`closed-${randomUUID()}.${account.domain}`);
      const capabilities = { sending: "disabled", receiving: "enabled" } as const;
      await data(account.sdk.domains.update({ id, capabilities }));
      return send(account, { from: `ann@${name}` });
    },
  },
  invalid_parameter: {
    error: errorWith(422, "invalid_parameter", /UUID/),
    cause: ({ sdk }) => sdk.emails.get("last"),
  },
};

/** The server does not distinguish versions, so the older one gets one error of each shape and source. */
const FOR_OLDER: string[] = ["bad_json", "forbidden", "not_found", "missing_field"];

describeClients(testServer, (client, account) => {
  const cases = Object.entries(CASES).filter(([code]) => client.isNewest || FOR_OLDER.includes(code));
  test.each(cases)("%s has the shape of the client's types", async (_, { error, cause }) => {
    expect(await errorOf(cause(account))).toEqual(error);
  });

  test("an invalid or expired key gets the 401 of the specification", async () => {
    const expired = await account.with({ expiresAt: new Date(Date.now() - 1_000) });
    const unknown = ["re_nobody", "nobody", "re_with spaces"].map((token) => testServer.open(client, token));
    for (const sdk of [expired, ...unknown])
      for (const call of [sdk.emails.send(account.mail), sdk.emails.list(), sdk.topics.list()])
        expect(await errorOf(call)).toEqual({ error: "Unauthorized" });
  });

  test("above the rate limit, the seconds to wait are in the body and in the headers", async () => {
    const limited = await account.with({ limits: { "GET /api/emails": 1 } });
    await data(limited.emails.list());
    const { error, headers } = await limited.emails.list();
    const retryAfter = Number(headers?.["retry-after"]);
    expect(error).toEqual({ error: "Rate limit exceeded", retryAfter });
    expect(retryAfter).toBeGreaterThan(0);
    expect(retryAfter).toBeLessThanOrEqual(60);
    expect(headers).toMatchObject({
      "x-ratelimit-limit": "1",
      "x-ratelimit-remaining": "0",
      "x-ratelimit-reset": expect.stringMatching(/^\d{10}$/),
      "ratelimit-reset": expect.stringMatching(/^\d{1,2}$/),
    });
  });

  test("an unparsable request gets an error in JSON, which the client parses", async () => {
    const { sdk } = account;
    expect(await errorOf(sdk.post("/emails"))).toEqual(errorWith(400, "validation_error", /missing/));
    for (const path of ["//emails", "/emails/"])
      expect(await errorOf(sdk.get(path))).toEqual(errorWith(404, "not_found", /Use \/api\/emails/));
    expect(await errorOf(send(account, { html: 7 }))).toEqual(errorWith(422, "validation_error", /`html`/));
  });
});

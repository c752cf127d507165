import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { idempotencyKeys } from "#db/schema/emails";
import type { ErrorCode } from "#server/platform/errors";
import { CLIENTS, type Sdk } from "./clients";
import { data, errorOf, errorWith, startTestServer, type TestAccount, type TestServer } from "./test-server";

let testServer: TestServer;
beforeAll(async () => {
  testServer = await startTestServer({ bodyMaxBytes: 1_000_000, connectionsMax: 8 });
});
afterAll(() => testServer.close());

type Case = {
  /** The error that the client returns. */
  error: unknown;
  cause(account: TestAccount): PromiseLike<{ data: unknown; error: unknown }>;
};

const send = ({ sdk, mail }: TestAccount, change: object) =>
  sdk.emails.send({ ...mail, ...change } as Parameters<Sdk["emails"]["send"]>[0]);

/** An error that the client cannot cause, because it sends a complete body. */
type ConnectionError = "too_slow";

/** Every error that a caller can get, except those of the database, which follow. */
const CASES: Record<
  Exclude<ErrorCode, "unauthorized" | "rate_limited" | ConnectionError | keyof typeof DATABASE_ERRORS>,
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
      const { id } = await account.team.domain(`closed-${randomUUID()}.${account.domain}`);
      const capabilities = { sending: "disabled", receiving: "enabled" } as const;
      await data(account.sdk.domains.update({ id, capabilities }));
      const { name } = await data(account.sdk.domains.get(id));
      return send(account, { from: `ann@${name}` });
    },
  },
  invalid_parameter: {
    error: errorWith(422, "invalid_parameter", /UUID/),
    cause: ({ sdk }) => sdk.emails.get("last"),
  },
};

const DATABASE_ERRORS = {
  idempotency_running: errorWith(409, "concurrent_idempotent_requests", /still in progress/),
  unavailable: errorWith(503, "application_error", /again/),
  internal: errorWith(500, "internal_server_error", /request id/),
};

describe.each(CLIENTS)("$name", (client) => {
  let account: TestAccount;
  beforeAll(async () => {
    account = await testServer.account(client);
  });

  test.each(Object.entries(CASES))("%s has the shape of the client's types", async (_, { error, cause }) => {
    expect(await errorOf(cause(account))).toEqual(error);
  });

  test.each(["re_nobody", "nobody", "re_with spaces"])(
    "the invalid key %s gets the 401 of the specification",
    async (token) => {
      const unauthorized = testServer.open(client, token);
      for (const call of [
        unauthorized.emails.send(account.mail),
        unauthorized.emails.list(),
        unauthorized.topics.list(),
      ])
        expect(await errorOf(call)).toEqual({ error: "Unauthorized" });
    },
  );

  test("an expired key is the same 401", async () => {
    const expired = await account.with({ expiresAt: new Date(Date.now() - 1_000) });
    expect(await errorOf(expired.emails.list())).toEqual({ error: "Unauthorized" });
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
    expect(await errorOf(sdk.get("//emails"))).toEqual(errorWith(404, "not_found", /Use \/api\/emails/));
    expect(await errorOf(sdk.get("/emails/"))).toEqual(errorWith(404, "not_found", /Use \/api\/emails/));
    expect(await errorOf(sdk.patch("/nowhere", {}))).toEqual(errorWith(404, "not_found"));
    for (const html of [{ path: "/etc/passwd" }, { href: "http://127.0.0.1/" }, 7])
      expect(await errorOf(send(account, { html }))).toEqual(errorWith(422, "validation_error", /`html`/));
  });
});

test("errors of the database differ from errors of the caller", async () => {
  // Two clients only, because a request that waits for a key uses one of the few statements that accept
  // email.
  const versions = CLIENTS.filter(({ isAtRoot }) => !isAtRoot);
  const accounts = await Promise.all(versions.map((client) => testServer.account(client)));
  const idempotencyKey = "held";
  let release = () => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  let hold = () => {};
  const held = new Promise<void>((resolve) => {
    hold = resolve;
  });
  // A first request that does not end, and a locked table.
  const holding = testServer.world.deps.db.transaction(async (tx) => {
    await tx.insert(idempotencyKeys).values(
      accounts.map(({ team }) => ({
        teamId: team.id,
        route: "POST /api/emails",
        key: idempotencyKey,
        fingerprint: new Uint8Array(32),
        status: 200,
        answer: { id: "of the first" },
      })),
    );
    await tx.execute("lock table suppressions in access exclusive mode");
    hold();
    await released;
  });
  await Promise.race([held, holding]);
  await Promise.all(
    accounts.map(async ({ sdk, mail }) => {
      const [running, unavailable] = await Promise.all([
        errorOf(sdk.emails.send(mail, { idempotencyKey })),
        errorOf(sdk.suppressions.list()),
      ]);
      expect({ running, unavailable }).toEqual({
        running: DATABASE_ERRORS.idempotency_running,
        unavailable: DATABASE_ERRORS.unavailable,
      });
    }),
  ).finally(release);
  await holding;

  const { hot } = testServer.world.deps;
  await hot`alter table suppressions rename to lost`;
  await hot`create view suppressions as select * from lost where 1 / (select 0) > 0`;
  for (const { sdk } of accounts)
    expect(await errorOf(sdk.suppressions.list())).toEqual(DATABASE_ERRORS.internal);
  await hot`drop view suppressions`;
  await hot`alter table lost rename to suppressions`;
});

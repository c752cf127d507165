import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { idempotencyKeys } from "#db/schema/emails";
import type { ErrorCode } from "#server/platform/errors";
import { CLIENTS, type Sdk } from "./clients";
import { data, fault, refusal, type Seat, startTestServer, type TestServer } from "./test-server";

let testServer: TestServer;
beforeAll(async () => {
  testServer = await startTestServer({ bodyMaxBytes: 1_000_000 });
});
afterAll(() => testServer.close());

type Case = {
  /** What the client hands to its caller. */
  error: unknown;
  provoke(seat: Seat): PromiseLike<{ data: unknown; error: unknown }>;
};

const send = ({ sdk, mail }: Seat, change: object) =>
  sdk.emails.send({ ...mail, ...change } as Parameters<Sdk["emails"]["send"]>[0]);

/** What a client cannot provoke: it sends a body at once. */
type OfConnections = "too_slow";

/** Every error that a caller can meet, but for those of a database in trouble, which follow. */
const CASES: Record<
  Exclude<ErrorCode, "unauthorized" | "rate_limited" | OfConnections | keyof typeof TROUBLE>,
  Case
> = {
  bad_json: {
    error: fault(400, "validation_error", /JSON object/),
    provoke: ({ sdk }) => sdk.post("/emails", []),
  },
  bad_idempotency_key: {
    error: fault(400, "invalid_idempotency_key", /256/),
    provoke: ({ sdk, mail }) => sdk.emails.send(mail, { idempotencyKey: "x".repeat(257) }),
  },
  forbidden: {
    error: { error: "Insufficient API key permissions" },
    provoke: (seat) => send(seat, { from: "ann@elsewhere.example" }),
  },
  not_found: {
    error: fault(404, "not_found", /^Email not found$/),
    provoke: ({ sdk }) => sdk.emails.get(randomUUID()),
  },
  method_not_allowed: {
    error: fault(405, "method_not_allowed", /Use GET or HEAD or POST|Use POST or GET/),
    provoke: ({ sdk }) => sdk.put("/emails", {}),
  },
  conflict: {
    error: fault(409, "validation_error", /scheduled/),
    provoke: async (seat) => seat.sdk.emails.cancel((await data(send(seat, {}))).id),
  },
  idempotency_mismatch: {
    error: fault(409, "invalid_idempotent_request"),
    provoke: async ({ sdk, mail }) => {
      const idempotencyKey = randomUUID();
      await data(sdk.emails.send(mail, { idempotencyKey }));
      return sdk.emails.send({ ...mail, subject: "Other" }, { idempotencyKey });
    },
  },
  too_large: {
    error: fault(413, "validation_error", /large|MB|bytes/i),
    provoke: (seat) => send(seat, { html: "x".repeat(1_000_001) }),
  },
  wrong_content_type: {
    error: fault(415, "validation_error", /application\/json/),
    provoke: ({ sdk, mail }) => sdk.emails.send(mail, { headers: { "Content-Type": "text/plain" } }),
  },
  missing_field: {
    error: fault(422, "missing_required_field", /`subject`/),
    provoke: (seat) => send(seat, { subject: undefined }),
  },
  invalid: {
    error: fault(422, "validation_error", /`to`/),
    provoke: (seat) => send(seat, { to: "nobody" }),
  },
  invalid_attachment: {
    error: fault(422, "invalid_attachment"),
    provoke: (seat) => send(seat, { attachments: [{ filename: "a.txt", path: "http://10.0.0.1/a.txt" }] }),
  },
  invalid_sender: {
    error: fault(422, "invalid_from_address", /is disabled/),
    provoke: async (seat) => {
      const { id } = await seat.team.domain(`closed-${randomUUID()}.${seat.domain}`);
      const capabilities = { sending: "disabled", receiving: "enabled" } as const;
      await data(seat.sdk.domains.update({ id, capabilities }));
      const { name } = await data(seat.sdk.domains.get(id));
      return send(seat, { from: `ann@${name}` });
    },
  },
  invalid_parameter: {
    error: fault(422, "invalid_parameter", /UUID/),
    provoke: ({ sdk }) => sdk.emails.get("last"),
  },
};

const TROUBLE = {
  idempotency_running: fault(409, "concurrent_idempotent_requests", /still in progress/),
  unavailable: fault(503, "application_error", /again/),
  internal: fault(500, "internal_server_error", /request id/),
};

describe.each(CLIENTS)("$name", (client) => {
  let seat: Seat;
  beforeAll(async () => {
    seat = await testServer.seat(client);
  });

  test.each(Object.entries(CASES))(
    "%s arrives as the client's types promise it",
    async (_, { error, provoke }) => {
      expect(await refusal(provoke(seat))).toEqual(error);
    },
  );

  test.each(["re_nobody", "nobody", "re_with spaces"])("the key %s is the interface's 401", async (token) => {
    const stranger = testServer.open(client, token);
    for (const calling of [stranger.emails.send(seat.mail), stranger.emails.list(), stranger.topics.list()])
      expect(await refusal(calling)).toEqual({ error: "Unauthorized" });
  });

  test("an expired key is the same 401", async () => {
    const expired = await seat.with({ expiresAt: new Date(Date.now() - 1_000) });
    expect(await refusal(expired.emails.list())).toEqual({ error: "Unauthorized" });
  });

  test("beyond the limit the seconds to wait are told in both dialects", async () => {
    const hasty = await seat.with({ limits: { "GET /api/emails": 1 } });
    await data(hasty.emails.list());
    const { error, headers } = await hasty.emails.list();
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

  test("what cannot be read is refused in JSON, which the client understands", async () => {
    const { sdk } = seat;
    expect(await refusal(sdk.post("/emails"))).toEqual(fault(400, "validation_error", /missing/));
    expect(await refusal(sdk.get("//emails"))).toEqual(fault(404, "not_found", /Use \/api\/emails/));
    expect(await refusal(sdk.get("/emails/"))).toEqual(fault(404, "not_found", /Use \/api\/emails/));
    expect(await refusal(sdk.patch("/nowhere", {}))).toEqual(fault(404, "not_found"));
    for (const html of [{ path: "/etc/passwd" }, { href: "http://127.0.0.1/" }, 7])
      expect(await refusal(send(seat, { html }))).toEqual(fault(422, "validation_error", /`html`/));
  });
});

test("a database in trouble is told apart from a fault of the caller's", async () => {
  // Two: whoever waits for a key holds one of the few statements that accept mail.
  const versions = CLIENTS.filter(({ isAtRoot }) => !isAtRoot);
  const seats = await Promise.all(versions.map((client) => testServer.seat(client)));
  const idempotencyKey = "held";
  let release = () => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  let hold = () => {};
  const held = new Promise<void>((resolve) => {
    hold = resolve;
  });
  // A first request that does not end, and a table that somebody keeps for himself.
  const holding = testServer.world.deps.db.transaction(async (tx) => {
    await tx.insert(idempotencyKeys).values(
      seats.map(({ team }) => ({
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
    seats.map(async ({ sdk, mail }) => {
      const [running, unavailable] = await Promise.all([
        refusal(sdk.emails.send(mail, { idempotencyKey })),
        refusal(sdk.suppressions.list()),
      ]);
      expect({ running, unavailable }).toEqual({
        running: TROUBLE.idempotency_running,
        unavailable: TROUBLE.unavailable,
      });
    }),
  ).finally(release);
  await holding;

  await testServer.world.deps.hot`alter table suppressions rename to lost`;
  for (const { sdk } of seats) expect(await refusal(sdk.suppressions.list())).toEqual(TROUBLE.internal);
  await testServer.world.deps.hot`alter table lost rename to suppressions`;
});

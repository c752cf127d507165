import fc from "fast-check";
import type { Route } from "#server/rest/pipeline/route";
import { oddText, oddValue } from "./values";

/** How one request differs from a valid one. Numbers select among what the route has. */
export type Mutation =
  | { kind: "other good value"; part: "body" | "query"; at: number; pick: number }
  | { kind: "odd value"; part: "body"; at: number; value: unknown }
  | { kind: "odd query"; at: number; text: string; twice: boolean }
  | { kind: "without a field"; at: number }
  | { kind: "one field more"; name: string; value: unknown }
  | { kind: "odd path"; at: number; text: string; isEncoded: boolean }
  | { kind: "another path"; path: string }
  | { kind: "odd header"; name: string; value: string }
  | { kind: "odd lines"; text: string }
  | { kind: "another body"; raw: string | Uint8Array; type: string | null }
  | { kind: "half of the body" }
  | { kind: "another method"; method: string };

/** A request to make: its route, and its changes. It is valid as long as every change is. */
export type Plan = { route: number; mutations: Mutation[] };

const at = fc.nat(1_000);
const mutation = <K extends Mutation["kind"]>(
  kind: K,
  rest: {
    [F in keyof Omit<Extract<Mutation, { kind: K }>, "kind">]: fc.Arbitrary<
      Extract<Mutation, { kind: K }>[F]
    >;
  },
) => fc.record({ kind: fc.constant(kind), ...rest }) as unknown as fc.Arbitrary<Mutation>;

const good = mutation("other good value", {
  part: fc.constantFrom("body" as const, "body" as const, "query" as const),
  at,
  pick: at,
});

const latin = fc.string({
  unit: fc
    .integer({ min: 0x20, max: 0xff })
    .filter((code) => code !== 0x7f)
    .map((code) => String.fromCharCode(code)),
  maxLength: 60,
});
const HEADERS = [
  ...[
    "idempotency-key",
    "content-type",
    "content-encoding",
    "x-request-id",
    "accept",
    "accept-encoding",
    "cookie",
  ],
  ...[
    "x-forwarded-for",
    "x-forwarded-host",
    "origin",
    "range",
    "if-match",
    "x-batch-validation",
    "user-agent",
  ],
  ...["x-http-method-override", "expect", "transfer-encoding", "forwarded", "x-backstamp-peer"],
];
const ODD_LINES = [
  ...[
    "X-A: a\r\nX-B: b\r\n\r\nGET /api/emails HTTP/1.1",
    "X-A: a\rb",
    "X-A: a\nb",
    "X-A: a\0b",
    ": a",
    "X A: a",
  ],
  ...[
    "Content-Length: 5\r\nContent-Length: 6",
    "Content-Length: -1",
    "Content-Length: 1e3",
    "Transfer-Encoding: x",
  ],
  ...["Transfer-Encoding: chunked\r\n\r\nzz\r\n", " folded: a"],
  ...[
    "Idempotency-Key: a\r\nIdempotency-Key: b",
    "Authorization: Bearer x",
    "Expect: tea",
    `X-A: ${"a".repeat(70_000)}`,
  ],
];
const PIECES = [
  ...[
    "emails",
    "templates",
    "publish",
    "cron",
    "batch",
    "csv",
    "..",
    ".",
    "%2e%2e",
    "%00",
    "%ff",
    "%zz",
    "",
    ";",
    "x@y",
  ],
];
const BODIES: readonly (string | Uint8Array)[] = [
  ...[
    "",
    " ",
    "null",
    "1",
    '"x"',
    "[]",
    "{}",
    "[[[]]]",
    "{}{}",
    "{'a':1}",
    '{"a":NaN}',
    '{"a":1,}',
    "\ufeff{}",
    "a=b",
  ],
  ...[
    '{"a":1e999}',
    '{"a":"\\u0000"}',
    '{"\\ud800":1}',
    '{"__proto__":{"a":1}}',
    "[".repeat(30_000),
    '"'.repeat(501),
  ],
  ...[
    `{"a":${"[".repeat(5_000)}${"]".repeat(5_000)}}`,
    `{"a":"${"x".repeat(400_000)}"}`,
    `[${"{},".repeat(1_200)}{}]`,
  ],
  ...[
    "email\n\0@example.com\n",
    "email\r\nann@example.com\r\nben@example.net,x",
    `"${"a".repeat(20_000)}`,
    "é\n".repeat(300),
  ],
];

const odd = fc.oneof(
  {
    arbitrary: mutation("odd value", { part: fc.constant("body" as const), at, value: oddValue }),
    weight: 12,
  },
  { arbitrary: mutation("odd query", { at, text: oddText, twice: fc.boolean() }), weight: 4 },
  { arbitrary: mutation("without a field", { at }), weight: 2 },
  {
    arbitrary: mutation("one field more", {
      name: fc.oneof(fc.constantFrom("__proto__", "constructor", "teamId", "team_id", "id"), oddText),
      value: oddValue,
    }),
    weight: 2,
  },
  { arbitrary: mutation("odd path", { at, text: oddText, isEncoded: fc.boolean() }), weight: 4 },
  {
    arbitrary: mutation("another path", {
      path: fc
        .array(
          fc.oneof(
            fc.constantFrom(...PIECES),
            fc.string({ unit: fc.constantFrom(..."abc%~!$&'()*+,;=:@-._0129"), maxLength: 12 }),
          ),
          { maxLength: 5 },
        )
        .map((pieces) => `/api/${pieces.join("/")}`),
    }),
    weight: 2,
  },
  { arbitrary: mutation("odd header", { name: fc.constantFrom(...HEADERS), value: latin }), weight: 4 },
  { arbitrary: mutation("odd lines", { text: fc.constantFrom(...ODD_LINES) }), weight: 1 },
  {
    arbitrary: mutation("another body", {
      raw: fc.oneof(fc.constantFrom(...BODIES), fc.uint8Array({ maxLength: 200 })),
      type: fc.constantFrom(null, null, null, "text/csv", "text/plain", "application/json; charset=x", ""),
    }),
    weight: 4,
  },
  { arbitrary: mutation("half of the body", {}), weight: 1 },
  {
    arbitrary: mutation("another method", {
      method: fc.constantFrom(
        "GET",
        "HEAD",
        "POST",
        "PUT",
        "PATCH",
        "DELETE",
        "OPTIONS",
        "TRACE",
        "PROPFIND",
      ),
    }),
    weight: 2,
  },
);

/** Generating an RSA key takes a tenth of a second; the rest of any call is fast. */
const rare: readonly string[] = ["POST /api/domains", "POST /api/domains/{id}/dkim/rotate"];

/** Requests over these routes: about half of them valid in many forms, the others with invalid parts. */
export function plansOver(routes: readonly Route[]): fc.Arbitrary<Plan> {
  const weighed = routes.flatMap(({ method, path }, index) =>
    Array.from({ length: rare.includes(`${method} ${path}`) ? 1 : 6 }, () => index),
  );
  return fc.record({
    route: fc.constantFrom(...weighed),
    mutations: fc.oneof(
      { arbitrary: fc.array(good, { maxLength: 4 }), weight: 8 },
      {
        arbitrary: fc
          .tuple(fc.array(good, { maxLength: 2 }), fc.array(odd, { minLength: 1, maxLength: 3 }))
          .map(([some, others]) => [...some, ...others]),
        weight: 10,
      },
    ),
  });
}

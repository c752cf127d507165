import { describe, expect, test } from "vitest";
import type { Reply } from "../support/rest";
import { type KeyOptions, openWorld } from "../support/world";

const BODY = '{"error":"Insufficient API key permissions"}';
const HEADER = "x-backstamp-reason";
/** RFC 9651: a token with one parameter, a string of printable ASCII. */
const FORM = /^([a-z_]+);detail="((?:[ !#-[\]-~]|\\["\\])*)"$/;

const world = await openWorld();
const { id: one } = await world.domain("one.example.com");
const { id: two } = await world.domain("two.example.com");
await (await world.otherTeam()).domain("foreign.example");

const call = (token: string, method: string, path: string, body?: unknown) =>
  world.api(method, path, { token, body });
const from = (domain: string) => ({
  from: `Ann <ann@${domain}>`,
  to: "delivered@backstamp.test",
  subject: "x",
  html: "x",
});
function reasonOf({ status, text, headers }: Reply): { code: string; detail: string } {
  expect({ status, text }).toEqual({ status: 403, text: BODY });
  const [, code = "", detail = ""] = FORM.exec(String(headers[HEADER])) ?? [];
  expect(String(headers[HEADER])).toMatch(FORM);
  return { code, detail: detail.replace(/\\(["\\])/g, "$1") };
}

const BOUND: KeyOptions = { domains: ["one.example.com"] };

describe("a 403 names its reason in a header", () => {
  const CASES: [
    what: string,
    key: KeyOptions,
    request: (key: { id: string }) => [method: string, path: string, body?: unknown],
    code: string,
    detail: RegExp,
  ][] = [
    [
      "a missing scope",
      { scopes: ["emails:read"] },
      () => ["GET", "/api/domains"],
      "missing_scope",
      /domains:read/,
    ],
    [
      "a sender's domain",
      BOUND,
      () => ["POST", "/api/emails", from("Two.Example.com")],
      "domain_not_linked",
      /not linked to two\.example\.com/,
    ],
    [
      "a sender's domain that the team does not have",
      {},
      () => ["POST", "/api/emails", from("nobody.example")],
      "domain_not_linked",
      /nobody\.example is not a domain of this team/,
    ],
    [
      "a sender's domain in another spelling",
      BOUND,
      () => ["POST", "/api/emails", from("bücher.example")],
      "domain_not_linked",
      /xn--bcher-kva\.example/,
    ],
    [
      "one email of a batch",
      BOUND,
      () => ["POST", "/api/emails/batch", [from("one.example.com"), from("two.example.com")]],
      "domain_not_linked",
      /^\[1\]: .*two\.example\.com/,
    ],
    [
      "scopes that a new key cannot have",
      { scopes: ["keys:write"] },
      () => ["POST", "/api/api-keys", { name: "x", scopes: ["keys:write", "emails:read"] }],
      "exceeds_calling_key",
      /scope emails:read/,
    ],
    [
      "a higher limit",
      { limits: { other: 10 } },
      () => ["POST", "/api/api-keys", { name: "x", limits: { other: 11 } }],
      "exceeds_calling_key",
      /limit of 10 .*"other"/,
    ],
    [
      "a link",
      BOUND,
      ({ id }) => ["PUT", `/api/api-keys/${id}/domains/${two}`],
      "domain_not_linked",
      /two\.example\.com/,
    ],
  ];

  test.each(CASES)("%s", async (_, options, request, code, detail) => {
    const key = await world.key(options);
    const before = await world.rowCounts();
    const reason = reasonOf(await call(key.token, ...request(key)));
    expect(reason).toEqual({ code, detail: expect.stringMatching(detail) });
    expect(await world.rowCounts()).toEqual(before);
  });

  test("which is the same for another team's domain and for an unknown one", async () => {
    const { token } = await world.key();
    const bound = await world.key(BOUND);
    for (const each of [token, bound.token]) {
      const [theirs, none] = [
        reasonOf(await call(each, "POST", "/api/emails", from("foreign.example"))),
        reasonOf(await call(each, "POST", "/api/emails", from("nowhere.example"))),
      ];
      expect(theirs.detail.replaceAll("foreign", "nowhere")).toBe(none.detail);
      expect(theirs.code).toBe(none.code);
    }
  });

  test("and says what would work: the domain, the link, or a sender that the key has", async () => {
    const [whole, bound] = [await world.key(), await world.key(BOUND)];
    const unlinked = await world.key({ domains: [] });
    const detailOf = async ({ token }: { token: string }) =>
      reasonOf(await call(token, "POST", "/api/emails", from("mine.example"))).detail;
    expect(await detailOf(whole)).toMatch(/add .*verify.*delivered@backstamp\.test/i);
    expect(await detailOf(bound)).toMatch(/one\.example\.com.*verify.*link/i);
    expect(await detailOf(unlinked)).toMatch(/no domain.*verify.*link/i);
  });

  test("and no other response has this header", async () => {
    const key = await world.key(BOUND);
    const replies = [
      await call(key.token, "POST", "/api/emails", from("one.example.com")),
      await call("re_none", "POST", "/api/emails", from("two.example.com")),
      await call(key.token, "POST", "/api/emails", { ...from("two.example.com"), to: "nobody" }),
      await call(key.token, "GET", `/api/emails/${one}`),
    ];
    expect(replies.map(({ status }) => status)).toEqual([200, 401, 422, 404]);
    for (const { headers } of replies) expect(headers).not.toHaveProperty(HEADER);
  });
});

test("the log of calls contains the reason of a 403 as in the header", async () => {
  const key = await world.key(BOUND);
  const { token } = await world.key();
  const { code, detail } = reasonOf(await call(key.token, "POST", "/api/emails", from("two.example.com")));
  await call(key.token, "POST", "/api/emails", from("one.example.com"));
  await world.deps.requestLog.flush();
  const { body } = await call(token, "GET", `/api/logs?key=${key.id}`);
  const [accepted, rejected] = body.data as { id: string; rejection: unknown }[];
  expect(accepted).toMatchObject({ response_status: 200, rejection: null });
  expect(rejected).toMatchObject({ response_status: 403, rejection: { reason: code, detail } });
  const whole = await call(token, "GET", `/api/logs/${rejected?.id}`);
  expect(whole.body).toMatchObject({ rejection: { reason: code, detail }, response_body: JSON.parse(BODY) });
});

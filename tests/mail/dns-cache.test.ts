import { beforeEach, expect, test } from "vitest";
import { retryAfterMs } from "#server/delivery/attempt/retry";
import { SYSTEM_EMAIL_RETRY_AFTER_SECONDS } from "#server/delivery/system-mail/deliver";
import { createCachedDns } from "#server/mail/dns/cache";
import type { DnsAnswer, DnsType, QueryDns } from "#server/mail/dns/dns";

let nowMs: number;
beforeEach(() => {
  nowMs = 0;
});

/** A resolver that returns one answer to every query and counts the queries. */
function answering(kind: "nxdomain" | "nodata" | "servfail" | "answer") {
  let questions = 0;
  const ask: QueryDns = async <T extends DnsType>(name: string, type: T) => {
    questions++;
    const base = { name, type, resolver: "test" };
    return (kind === "answer" ? { ...base, kind, records: [] } : { ...base, kind }) as DnsAnswer<T>;
  };
  return { ask: createCachedDns(ask, () => nowMs), questions: () => questions };
}

test.each(["nxdomain", "nodata"] as const)(
  "concurrent queries share an answer of %s, and the next attempt of an email queries again",
  async (kind) => {
    const { ask, questions } = answering(kind);
    await Promise.all([ask("a.example", "MX"), ask("A.example", "MX")]);
    await ask("a.example", "MX");
    expect(questions()).toBe(1);
    nowMs += Math.min(retryAfterMs(1, 0) ?? 0, SYSTEM_EMAIL_RETRY_AFTER_SECONDS[0] * 1_000);
    await ask("a.example", "MX");
    expect(questions()).toBe(2);
  },
);

test("an answer is cached for one minute, a failed query is not cached", async () => {
  const there = answering("answer");
  await there.ask("a.example", "MX");
  nowMs += 59_000;
  await there.ask("a.example", "MX");
  expect(there.questions()).toBe(1);
  nowMs += 2_000;
  await there.ask("a.example", "MX");
  expect(there.questions()).toBe(2);

  const broken = answering("servfail");
  await broken.ask("a.example", "MX");
  await broken.ask("a.example", "MX");
  expect(broken.questions()).toBe(2);
});

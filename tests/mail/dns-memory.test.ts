import { beforeEach, expect, test } from "vitest";
import type { AskDns, DnsAnswer, DnsType } from "#server/mail/dns";
import { rememberDns } from "#server/mail/dns-memory";
import { SYSTEM_MAIL_RETRY_AFTER_SECONDS } from "#server/worker/deliver-system-mail";
import { retryAfterMs } from "#server/worker/retry";

let nowMs: number;
beforeEach(() => {
  nowMs = 0;
});

/** A resolver that gives one answer to everything, and counts the questions. */
function answering(kind: "nxdomain" | "nodata" | "servfail" | "answer") {
  let questions = 0;
  const ask: AskDns = async <T extends DnsType>(name: string, type: T) => {
    questions++;
    const base = { name, type, resolver: "test" };
    return (kind === "answer" ? { ...base, kind, records: [] } : { ...base, kind }) as DnsAnswer<T>;
  };
  return { ask: rememberDns(ask, () => nowMs), questions: () => questions };
}

test.each(["nxdomain", "nodata"] as const)(
  "an answer of %s is shared by those who ask together, and the next attempt of a mail asks afresh",
  async (kind) => {
    const { ask, questions } = answering(kind);
    await Promise.all([ask("a.example", "MX"), ask("A.example", "MX")]);
    await ask("a.example", "MX");
    expect(questions()).toBe(1);
    nowMs += Math.min(retryAfterMs(1, 0) ?? 0, SYSTEM_MAIL_RETRY_AFTER_SECONDS[0] * 1_000);
    await ask("a.example", "MX");
    expect(questions()).toBe(2);
  },
);

test("what is there is remembered for a minute, and what could not be told not at all", async () => {
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

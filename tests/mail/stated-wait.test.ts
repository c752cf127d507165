import { expect, test } from "vitest";
import { statedWaitMs } from "#server/mail/replies/stated-wait";

test.each<[text: string, ms: number | null]>([
  ["Greylisted for 5 minutes", 300_000],
  ["greylisted for 60 seconds by ZEROSPAM", 60_000],
  ["Greylisting in effect, try again in 00300 s", 300_000],
  ["please retry in 1 hour", 3_600_000],
  ["come back in 12min", 720_000],
  ["Greylisted, see http://192.0.2.1/15", null],
  ["450 messages", null],
  ["try again later", null],
  ["", null],
])("%j requests a delay of %s ms", (text, ms) => {
  expect(statedWaitMs(text)).toBe(ms);
});

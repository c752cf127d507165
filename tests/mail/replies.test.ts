import { expect, test } from "vitest";
import { saysAddressIsDead } from "#server/mail/dead-address";
import { type Outcome, outcomeOfReply, type ReplyStep, readReply } from "#server/mail/outcome";
import studied from "./replies/studied.json";

/**
 * A reply as a server gave it or its provider documents it. `classes` are those which a person who reads it without the
 * table would call right: more than one where it names two reasons, or none.
 */
type Sample = { reply: string; kind: string; classes: string[]; source: string; step?: string };

const judge = ({ reply, step }: Sample): Outcome =>
  outcomeOfReply("ben@example.net", readReply(reply), "mx.example.net", (step ?? "message") as ReplyStep);

const isRight = (sample: Sample): boolean => {
  const outcome = judge(sample);
  return (
    outcome.kind === sample.kind && (outcome.class === undefined || sample.classes.includes(outcome.class))
  );
};

const shareRight = (samples: Sample[]): number => samples.filter(isRight).length / samples.length;

test("the studied replies, which the table was written by, are read right", () => {
  expect(studied.length).toBeGreaterThan(300);
  expect(shareRight(studied)).toBeGreaterThan(0.99);
});

test("no reply from an address that may yet take mail is taken for a dead one's", () => {
  const alive = studied.filter(({ classes }) => !classes.includes("hard"));
  expect(alive.filter((sample) => saysAddressIsDead(judge(sample), 1))).toEqual([]);
});

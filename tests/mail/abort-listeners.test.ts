import { afterEach, beforeEach, expect, test } from "vitest";
import type { OutgoingMessage } from "#server/mail/transport/transport";
import { startTestInternet, type Zone } from "../support/servers/test-internet";
import { parsed } from "./relay-world";

const warnings: Error[] = [];
const record = (warning: Error) => void warnings.push(warning);
beforeEach(() => {
  warnings.length = 0;
  process.on("warning", record);
});
afterEach(() => void process.off("warning", record));

test("a message to 30 domains at once is delivered to all, without a warning about listeners", async () => {
  const places = Array.from({ length: 30 }, (_, n) => ({
    domain: `d${n}.example`,
    address: `127.0.1.${n + 1}`,
  }));
  const zone: Zone = Object.fromEntries(places.map(({ domain, address }) => [domain, { a: [address] }]));
  const internet = await startTestInternet(zone);
  for (const { address } of places) await internet.serve(address);
  const message: OutgoingMessage = {
    id: "m1",
    returnPath: "ann@example.org",
    bytes: Buffer.from("Subject: x\r\n\r\nx\r\n"),
    smtpUtf8: false,
    messageId: "m1@example.org",
  };
  const recipients = places.map(({ domain }) => `ben@${domain}`);
  const watch = { deadlineMs: 60_000, isLeaseValid: () => true };
  const outcomes = await internet.transport().deliver(message, parsed(recipients), watch);
  expect(outcomes.map(({ kind }) => kind)).toEqual(recipients.map(() => "accepted"));
  await internet.close();
  expect(warnings).toEqual([]);
});

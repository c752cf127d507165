import { afterEach, describe, expect, test } from "vitest";
import type { Transport } from "#server/mail/transport/transport";
import { findPostfixSink, type PostfixSink, startPostfixSink } from "../support/servers/smtp-sink";
import { kinds, message, parsed, relayTo, watch } from "./relay-world";

const binary = findPostfixSink();
if (binary === null)
  process.stdout.write("NOT RUN: Postfix's smtp-sink is not on this machine; its faults are left out.\n");

const RECIPIENTS = ["one@example.org", "two@example.org"];
let sink: PostfixSink;
let relay: Transport;

async function deliverTo(args: string[]): Promise<string[]> {
  sink = await startPostfixSink(binary ?? "", args);
  relay = relayTo(sink);
  return kinds(await relay.deliver(message(), parsed(RECIPIENTS), watch()));
}

describe.runIf(binary !== null)("Postfix's smtp-sink", () => {
  afterEach(async () => {
    await relay.close();
    await sink.close();
  });

  test.each<[what: string, args: string[], kind: string]>([
    ["that takes everything", [], "accepted"],
    ["without EHLO", ["-e"], "accepted"],
    ["without pipelining", ["-p"], "accepted"],
    ["that temporarily rejects recipients", ["-r", "RCPT"], "deferred"],
    ["that permanently rejects the message", ["-f", "."], "rejected"],
    ["that replies 421 after the dot", ["-Q", "."], "deferred"],
    ["that hangs up at DATA", ["-q", "DATA"], "deferred"],
    ["that hangs up after the dot", ["-q", "."], "unknown"],
  ])("%s", async (_what, args, kind) => {
    expect(await deliverTo(args)).toEqual([kind, kind]);
  });
});

import { expect, test } from "vitest";
import { observeDialogue } from "#server/delivery/routing/observe-dialogue";
import type { WorkerDeps } from "#server/deps";
import type { OutgoingMessage } from "#server/mail/transport/transport";

/** The label `provider` of an email to a domain that is in no list, sent to a host of Google. */
async function labelOf(transport: string): Promise<string | undefined> {
  const providers: string[] = [];
  const metrics = {
    recordDialogue: () => {},
    recordAttempt: ({ provider }: { provider: string }) => void providers.push(provider),
  } as unknown as WorkerDeps["metrics"];
  const address = "ben@example.net";
  const deliver = observeDialogue({ metrics, tracer: null }, transport, async () => [
    { recipient: address, kind: "accepted", reply: null, host: "smtp-relay.gmail.com", reason: "" },
  ]);
  await deliver({} as OutgoingMessage, [{ address, domain: "example.net" }], {
    deadlineMs: 1_000,
    isLeaseValid: () => true,
  });
  return providers[0];
}

test("the host determines the provider of direct delivery only: a relay's host is not the recipient's", async () => {
  expect(await labelOf("direct")).toBe("gmail");
  expect(await labelOf("smtp_url")).toBe("other");
  expect(await labelOf("relay:main")).toBe("other");
});

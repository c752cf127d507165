import { afterEach, beforeEach, expect, test } from "vitest";
import { tick } from "#server/delivery/tick";
import type { Outcome } from "#server/mail/outcome";
import type { Transport } from "#server/mail/transport/transport";
import { type House, openHouse } from "../support/house";

let house: House;
beforeEach(async () => {
  house = await openHouse({ transportKind: "relay" });
});
afterEach(async () => {
  await house.close();
});

const accepted = (recipient: string, reason: string): Outcome => ({
  recipient,
  kind: "accepted",
  reply: { code: 250, enhanced: null, text: "ok" },
  host: "mx.example.net",
  reason,
});

test("a result that cannot be stored does not affect other results in the batch", async () => {
  const unstorable = "\0";
  const transport: Transport = {
    name: "relay",
    deliver: async (_message, recipients) =>
      recipients.map((recipient) => accepted(recipient, recipient.startsWith("bad") ? unstorable : "fine")),
    close: async () => {},
  };
  for (const local of ["a", "bad", "b", "c"]) await house.send({ to: [`${local}@example.net`] });
  await tick(house.withTransport(transport), { budgetMs: 20_000 });
  const rows = await house.hot<{ address: string; status: string }[]>`
    select address, status from deliveries order by address`;
  expect(rows).toEqual([
    { address: "a@example.net", status: "sent" },
    { address: "b@example.net", status: "sent" },
    // Its lease expires. It was handed over, so the next worker records an unknown outcome.
    { address: "bad@example.net", status: "sending" },
    { address: "c@example.net", status: "sent" },
  ]);
});

import { expect, test } from "vitest";
import type { Outcome } from "#server/mail/outcome";
import type { Transport } from "#server/mail/transport/transport";
import { forEachTest } from "../support/fixtures";
import { deliverDue } from "../support/pump-engine";
import { createWorld } from "../support/world";

const world = forEachTest(() => createWorld({ transportKind: "relay" }));

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
      recipients.map(({ address }) => accepted(address, address.startsWith("bad") ? unstorable : "fine")),
    close: async () => {},
  };
  for (const local of ["a", "bad", "b", "c"]) await world.send({ to: [`${local}@example.net`] });
  await deliverDue(world.withTransport(transport));
  const rows = await world.hot<{ address: string; status: string }[]>`
    select d.address, case when q.lease_token is null then d.status else 'sending' end as status
    from deliveries d left join queue q on q.id = d.id order by d.address`;
  expect(rows).toEqual([
    { address: "a@example.net", status: "sent" },
    { address: "b@example.net", status: "sent" },
    // Its lease expires. It was handed over, so the next worker records an unknown outcome.
    { address: "bad@example.net", status: "sending" },
    { address: "c@example.net", status: "sent" },
  ]);
});

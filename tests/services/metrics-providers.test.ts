import { beforeEach, expect, test } from "vitest";
import { tick } from "#server/delivery/tick";
import { requestErasure } from "#server/services/erasures/request";
import { runErasures } from "#server/services/erasures/run";
import { forAllTests, forEachTest } from "../support/fixtures";
import { startTestInternet } from "../support/servers/test-internet";
import { createWorld } from "../support/world";

const world = forEachTest(() => createWorld({ transportKind: "direct" }));
let token: string;
const internet = forAllTests(() =>
  startTestInternet({
    "shop.example": { mx: [[10, "aspmx.l.google.com"]] },
    "aspmx.l.google.com": { a: ["127.0.0.2"] },
  }),
);
beforeEach(async () => {
  ({ token } = await world.key());
});

const counts = async () => {
  const { body } = await world.api(
    "GET",
    "/api/emails/metrics?dimensions=provider&metrics=received,in_progress,delivered,canceled",
    { token },
  );
  return body.data;
};
const none = { received: 0, in_progress: 0, delivered: 0, canceled: 0 };
const settled = (rows: object[]) => expect.poll(counts, { timeout: 20_000 }).toEqual(rows);

test("the MX host of direct delivery moves the recipient to its provider, which the API of events does not show", async () => {
  await internet.serve("127.0.0.2");
  const { id } = await world.send({ to: ["ann@shop.example"] });
  await settled([{ provider: "other", ...none, received: 1, in_progress: 1 }]);
  await tick(world.withTransport(internet.transport()), { budgetMs: 60_000 });
  await settled([
    { provider: "gmail", ...none, received: 1, delivered: 1 },
    { provider: "other", ...none },
  ]);
  const { body } = await world.api("GET", `/api/emails/${id}`, { token });
  expect(JSON.stringify(body)).not.toContain('"provider"');
});

test("a recipient stays with its provider when its data is erased", async () => {
  await world.send({ to: ["ann@gmail.com"] });
  await settled([{ provider: "gmail", ...none, received: 1, in_progress: 1 }]);
  await requestErasure(world.ctx, { address: "ann@gmail.com", suppresses: false });
  await runErasures(world.deps, () => true);
  await world.elapse("10 min");
  await runErasures(world.deps, () => true);
  const [row] = await world.hot<{ domain: string }[]>`select domain from deliveries`;
  expect(row?.domain).toBe("erased.invalid");
  await settled([{ provider: "gmail", ...none, received: 1, canceled: 1 }]);
});

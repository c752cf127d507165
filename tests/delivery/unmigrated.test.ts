import { expect, onTestFailed, test } from "vitest";
import { tick } from "#server/delivery/tick";
import { forEachTest } from "../support/fixtures";
import { createWorld } from "../support/world";

const world = forEachTest(() => createWorld());

const readDelivery = async () =>
  (await world.hot`select status, attempts, lapses from deliveries where status <> 'sent'`)[0];

test.each([0, 3])(
  "an email with %i lapses that cannot be read, because a column is missing, waits for the migration",
  async (lapses) => {
    const { id } = await world.send();
    await world.hot`update deliveries set lapses = ${lapses}`;
    await world.hot`alter table email_bodies rename column raw to raw_of_another_release`;
    onTestFailed(async () => {
      await world.hot`alter table email_bodies rename column raw_of_another_release to raw`;
    });
    for (let round = 0; round < 2; round++) {
      await expect(tick(world.withTransport(), { budgetMs: 60_000 })).rejects.toMatchObject({
        code: "42703",
      });
      expect(await readDelivery()).toEqual({ status: "queued", attempts: 0, lapses });
      await world.elapse("61 seconds");
    }
    await world.hot`alter table email_bodies rename column raw_of_another_release to raw`;
    await tick(world.withTransport(), { budgetMs: 60_000 });
    const { deliveries } = await world.email(id);
    expect(deliveries).toMatchObject([{ status: "delivered", attempts: 1 }]);
    expect(await world.hot`select from captured_messages`).toHaveLength(1);
  },
);

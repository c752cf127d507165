import { expect, test } from "vitest";
import { tick } from "#server/delivery/tick";
import { forAllTests } from "../support/fixtures";
import { createWorld } from "../support/world";

const world = forAllTests(() => createWorld());

const CHILDREN = ["attachments", "captured_messages", "deliveries", "email_bodies", "email_events"];

const rowsOf = async (id: string): Promise<Record<string, number>> =>
  Object.fromEntries(
    await Promise.all(
      CHILDREN.map(async (table) => [
        table,
        (await world.hot`select from ${world.hot(table)} where email_id = ${id}`).length,
      ]),
    ),
  );

const sendCaptured = () =>
  world.send({
    to: ["ann@example.net"],
    attachments: [
      {
        filename: "a.txt",
        contentType: "text/plain",
        contentId: null,
        source: { content: Buffer.from("file") },
      },
    ],
  });

// No foreign key ensures it, and release 0.2.0 deletes only the emails.
test("the deliveries, events, contents and files of a deleted email are deleted; those of other emails remain", async () => {
  const [one, two, kept] = [await sendCaptured(), await sendCaptured(), await sendCaptured()];
  await tick(world.withTransport(), { budgetMs: 60_000 });
  const before = await rowsOf(kept.id);
  expect(Math.min(...CHILDREN.map((table) => before[table] ?? 0))).toBeGreaterThan(0);
  expect(await rowsOf(one.id)).toEqual(before);
  await world.hot`delete from emails where id in (${one.id}, ${two.id})`;
  for (const { id } of [one, two])
    expect(await rowsOf(id)).toEqual(Object.fromEntries(CHILDREN.map((table) => [table, 0])));
  expect(await rowsOf(kept.id)).toEqual(before);
});

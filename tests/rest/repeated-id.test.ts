import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Desk, openDesk } from "./desk";

let desk: Desk;
beforeAll(async () => {
  desk = await openDesk();
});
afterAll(() => desk.close());

const patch = (path: string, body: object) => desk.world.api("PATCH", path, { token: desk.token, body });
const later = { scheduled_at: "in 2 hours" };

test("a body may say the id of its path once more", async () => {
  const id = await desk.accepted(later);
  for (const name of ["id", "email_id"])
    expect(await patch(`/api/emails/${id}`, { ...later, [name]: id })).toMatchObject({ status: 200 });
  expect((await patch(`/api/emails/${id}`, { ...later, id: id.toUpperCase() })).status).toBe(200);
});

test.each([
  ["another id", randomUUID()],
  ["no text", 1],
  ["null", null],
])("a body that says %s than its path changes nothing", async (_, said) => {
  const id = await desk.accepted({ scheduled_at: "in 1 hour" });
  const before = await desk.show(id);
  const { status, body } = await patch(`/api/emails/${id}`, { ...later, id: said });
  expect(status).toBe(422);
  expect(body).toMatchObject({ name: "validation_error", error: expect.stringMatching(/^Invalid `id`/) });
  expect(await desk.show(id)).toEqual(before);
});

test("a name that only another kind of thing knows is unknown", async () => {
  const id = await desk.accepted(later);
  const { status, body } = await patch(`/api/emails/${id}`, { ...later, webhook_id: id });
  expect(status).toBe(422);
  expect(body.error).toMatch(/Unknown field `webhook_id`/);
});

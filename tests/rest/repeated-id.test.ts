import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { rejected } from "../support/rejected";
import { openTestApp } from "./test-app";

const app = await openTestApp();

const patch = (path: string, body: object) => app.world.api("PATCH", path, { token: app.token, body });
const later = { scheduled_at: "in 2 hours" };

test("a body may repeat the id of its path", async () => {
  const id = await app.accepted(later);
  for (const name of ["id", "email_id"])
    expect(await patch(`/api/emails/${id}`, { ...later, [name]: id })).toMatchObject({ status: 200 });
  expect((await patch(`/api/emails/${id}`, { ...later, id: id.toUpperCase() })).status).toBe(200);
});

test.each([
  ["another id", randomUUID()],
  ["no text", 1],
  ["null", null],
])("a body with %s than its path is rejected and changes nothing", async (_, said) => {
  const id = await app.accepted({ scheduled_at: "in 1 hour" });
  const before = await app.show(id);
  const { status, body } = await patch(`/api/emails/${id}`, { ...later, id: said });
  expect(status).toBe(422);
  expect(body).toMatchObject({ name: "validation_error", error: expect.stringMatching(/^Invalid `id`/) });
  expect(await app.show(id)).toEqual(before);
});

test("the id field of another resource is unknown", async () => {
  const id = await app.accepted(later);
  expect(await patch(`/api/emails/${id}`, { ...later, webhook_id: id })).toMatchObject(
    rejected(422, /Unknown field `webhook_id`/),
  );
});

import { expect, test } from "vitest";
import { openTestApp } from "./test-app";

/** The number of emails that one call searches. */
const searchedMax = 50_000;

const app = await openTestApp();
await app.world.hot`
  insert into emails (id, team_id, sender, sender_address, sender_domain, "to", subject, tags, message_id, status, created_at)
  select ('01900000-' || lpad(to_hex(n >> 16), 4, '0') || '-7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid, ${app.world.id},
    'a@example.org', 'a@example.org', case when n <= 3 then 'rare.org' else 'example.org' end, '["b@example.net"]',
    case when n <= 3 then 'Rare ' || n else 'Usual' end, '[]', n || '@example.org', 'delivered', now() - interval '1 year'
  from generate_series(1, ${searchedMax + 10}::int) n`;

const idOf = (n: number) => {
  const hex = n.toString(16);
  return `01900000-${hex.slice(0, -4).padStart(4, "0")}-7000-8000-${hex.padStart(12, "0")}`;
};

test.each(["subject=rare", "domain=rare.org"])(
  "?%s ends after 50,000 emails, returns the position, and continues from there",
  async (filter) => {
    const first = await app.get(`/api/emails?${filter}`);
    expect(first.status).toBe(200);
    expect(first.body).toEqual({ object: "list", has_more: true, data: [], searched_to: idOf(11) });
    const next = await app.get(`/api/emails?${filter}&after=${first.body.searched_to}`);
    expect((next.body.data as { subject: string }[]).map(({ subject }) => subject)).toEqual([
      "Rare 3",
      "Rare 2",
      "Rare 1",
    ]);
    expect(next.body.has_more).toBe(false);
    expect(next.body).not.toHaveProperty("searched_to");
  },
);

test("the search for newer emails also ends, and returns the emails found", async () => {
  const { body } = await app.get(`/api/emails?subject=rare&before=${idOf(1)}`);
  expect(body.data).toMatchObject([{ id: idOf(3) }, { id: idOf(2) }]);
  expect(body).toMatchObject({ has_more: true, searched_to: idOf(searchedMax + 1) });
  const rest = await app.get(`/api/emails?subject=rare&before=${body.searched_to}`);
  expect(rest.body).toEqual({ object: "list", has_more: false, data: [] });
});

test("a list without a filter and a full page have no `searched_to`", async () => {
  for (const query of ["limit=2", "limit=2&subject=usual"]) {
    const { body } = await app.get(`/api/emails?${query}`);
    expect(body).toMatchObject({ has_more: true, data: [{ subject: "Usual" }, { subject: "Usual" }] });
    expect(body).not.toHaveProperty("searched_to");
  }
});

import { beforeAll, expect, test } from "vitest";
import { addDomain } from "#server/services/domains/write";
import { createKey, revokeKey } from "#server/services/keys/keys";
import { addSuppressions } from "#server/services/suppressions/suppress";
import { createTemplate } from "#server/services/templates/write";
import { createWebhook } from "#server/services/webhooks/endpoints";
import { openConsole } from "../support/console/console";
import { createRoleTeam, type RoleTeam } from "../support/console/role-teams";

type Found = Record<string, Record<string, unknown>[]>;

const console = await openConsole();
const ann = await createRoleTeam(console, "Ann's");
const ben = await createRoleTeam(console, "Ben's");
beforeAll(async () => {
  for (const team of [ann, ben]) await fill(team);
});

/** One row of each noun that "juniper" finds, and one that it does not find. */
async function fill({ ctx, teamId }: RoleTeam): Promise<void> {
  await createKey(ctx, { name: "Shop of Juniper", scopes: ["emails:send"] });
  await createKey(ctx, { name: "Blog", scopes: ["emails:send"] });
  const { key } = await createKey(ctx, { name: "Juniper, revoked", scopes: ["emails:send"] });
  await revokeKey(ctx, key.id);
  await addDomain(ctx, { name: `juniper-${teamId}.example.com`, verified: true });
  for (const path of ["Juniper", "other"])
    await createWebhook(ctx, {
      url: `https://hooks.example.com/${path}`,
      events: ["email.sent"],
      status: "enabled",
    });
  await addSuppressions(ctx, ["juniper@example.net", "old-juniper@example.net"]);
  for (const name of ["Juniper receipt", "Welcome"])
    await createTemplate(
      ctx,
      {
        name,
        alias: null,
        subject: null,
        html: "<p>x</p>",
        text: null,
        sender: null,
        replyTo: null,
        variables: null,
      },
      "draft",
    );
  const { id } = await console.person({ teamId, role: "member" });
  await console.world.hot`update users set name = 'Jo Juniper' where id = ${id}`;
  await console.world.send(
    { sender: "ann@backstamp.test", to: ["delivered@backstamp.test"], subject: "Juniper is in stock" },
    ctx,
  );
}

const find = (text: string, of = ann) => of.data<Found>("viewer", "search.everything", { text });

test("one search finds all nouns of the team, and nothing of another team", async () => {
  const found = await find("juniper");
  expect(found).toEqual({
    emails: [expect.objectContaining({ subject: "Juniper is in stock", to: "delivered@backstamp.test" })],
    suppressions: [expect.objectContaining({ address: "juniper@example.net" })],
    templates: [expect.objectContaining({ name: "Juniper receipt" })],
    domains: [expect.objectContaining({ name: `juniper-${ann.teamId}.example.com` })],
    keys: [{ id: expect.any(String), name: "Shop of Juniper" }],
    webhooks: [{ id: expect.any(String), url: "https://hooks.example.com/Juniper" }],
    members: [{ userId: expect.any(String), email: expect.any(String), name: "Jo Juniper" }],
  });
  const ids = (from: Found) =>
    Object.values(from).flatMap((rows) => rows.map(({ id, userId }) => id ?? userId));
  const foreign = ids(await find("juniper", ben));
  expect(foreign).toHaveLength(7);
  expect(foreign.filter((id) => ids(found).includes(id))).toEqual([]);
});

test("a text that is in no name finds nothing; % and _ are letters like others", async () => {
  for (const text of ["no such name", "%%", "__"])
    expect(Object.values(await find(text)).flat(), text).toEqual([]);
});

test("at most five rows of each noun are returned, the newest keys first", async () => {
  for (const n of [1, 2, 3, 4, 5, 6, 7])
    await createKey(ann.ctx, { name: `Willow ${n}`, scopes: ["emails:send"] });
  await addSuppressions(
    ann.ctx,
    [1, 2, 3, 4, 5, 6].map((n) => `willow-${n}@example.net`),
  );
  const { keys, suppressions } = await find("willow");
  expect(keys?.map(({ name }) => name)).toEqual([7, 6, 5, 4, 3].map((n) => `Willow ${n}`));
  expect(suppressions).toHaveLength(5);
});

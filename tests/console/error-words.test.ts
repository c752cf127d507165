import { beforeAll, expect, test } from "vitest";
import { newId } from "#server/platform/ids";
import { openConsole } from "../support/console/console";
import { createRoleTeam } from "../support/console/role-teams";

let template: { id: string; revision: number };
let domainId: string;
const console = await openConsole();
const ann = await createRoleTeam(console, "Ann's");
beforeAll(async () => {
  domainId = (await call("domains.add", { name: "words.example" })).id;
  const content = { name: "Receipt", alias: "receipt", subject: null, html: "<p>Hi {{NAME}}</p>" };
  const { id } = await call("templates.create", content);
  template = { id, revision: (await call("templates.get", { id })).revision };
});

type Made = { id: string; revision: number };
async function call(procedure: string, input: object): Promise<Made> {
  const result = await ann.call("admin", procedure, input);
  if (!result.ok) throw new Error(`${procedure}: ${result.message}`);
  return result.data as Made;
}

const KEY = { name: "Shop", scopes: ["emails:send"], domains: "all", expiresAt: null, limits: {} };
const WARM_UP = { startDate: null, firstDay: 50, growthPercent: 50, target: 20 };
const update = (change: object) => ({ id: domainId, change });
const save = (change: object) => ({ ...template, change });

/** Inputs whose fault a service finds, and how the error begins. */
const INVALID: [procedure: string, input: () => object, message: RegExp][] = [
  ["domains.add", () => ({ name: "co.uk" }), /^Domain: co\.uk is a public suffix/],
  ["domains.update", () => update({ warmUp: WARM_UP }), /^Warm-up: it ends at 20, so the first day/],
  ["webhooks.create", () => ({ url: "http://10.0.0.1/", events: ["email.delivered"] }), /^URL: /],
  ["keys.create", () => ({ ...KEY, expiresAt: "2020-01-01T00:00:00Z" }), /^Expires: it is in the past/],
  ["templates.save", () => save({ variables: [] }), /^Variables: it does not declare “NAME”/],
  ["emails.list", () => ({ after: newId() }), /^After: this list has no row/],
];

test.each(INVALID)("the error of %s has the words of the page (%#)", async (procedure, input, message) => {
  const result = await ann.call("admin", procedure, input());
  expect(result).toMatchObject({ ok: false, message: expect.stringMatching(message) });
  expect(JSON.stringify(result)).not.toContain("`");
});

test("the error of a time in the past has the words of the page", async () => {
  const { id } = await console.world.send(
    { sender: "ann@backstamp.test", scheduledAt: "in 1 hour" },
    ann.ctx,
  );
  const result = await ann.call("admin", "emails.reschedule", { id, at: "2020-01-01T00:00:00Z" });
  expect(result).toMatchObject({ ok: false, message: expect.stringMatching(/^Send at: .* is in the past/) });
  expect(JSON.stringify(result)).not.toContain("`");
});

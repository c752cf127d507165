import { beforeAll, expect, test } from "vitest";
import { newId } from "#server/platform/ids";
import { openConsole } from "../support/console/console";
import { createRoleTeam } from "../support/console/role-teams";

let template: { id: string; revision: number };
let domainId: string;
let scheduledId: string;
const console = await openConsole();
const ann = await createRoleTeam(console, "Ann's");
beforeAll(async () => {
  domainId = (await call("domains.add", { name: "words.example" })).id;
  const scheduled = { sender: "ann@backstamp.test", scheduledAt: "in 1 hour" };
  scheduledId = (await console.world.send(scheduled, ann.ctx)).id;
  const content = { name: "Receipt", alias: "receipt", subject: null, html: "<p>Hi {{NAME}}</p>" };
  const { id } = await call("templates.create", content);
  template = { id, revision: (await call("templates.get", { id })).revision };
});

type Made = { id: string; revision: number };
const call = (procedure: string, input: object) => ann.data<Made>("admin", procedure, input);

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
  [
    "emails.reschedule",
    () => ({ id: scheduledId, at: "2020-01-01T00:00:00Z" }),
    /^Send at: .* is in the past/,
  ],
  ["emails.list", () => ({ after: newId() }), /^After: this list has no row/],
];

test.each(INVALID)("the error of %s has the words of the page (%#)", async (procedure, input, message) => {
  const result = await ann.call("admin", procedure, input());
  expect(result).toMatchObject({ ok: false, message: expect.stringMatching(message) });
  expect(JSON.stringify(result)).not.toContain("`");
});

import { afterAll, expect, test } from "vitest";
import { findAllowedSessions } from "#server/services/live/allowed";
import { getMarks } from "#server/services/live/changes";
import { createLive } from "#server/services/live/watch";
import { endSession } from "#server/services/people/sessions";
import { answerTrpc } from "#server/trpc/http";
import { cookiesOf, openConsole, queryPath } from "../support/console/console";
import { readEvents } from "../support/console/events";

const console = await openConsole();
const live = createLive({
  read: (teamId) => getMarks(console.deps, teamId),
  findAllowed: (teamId, ids) => findAllowedSessions(console.deps, teamId, ids),
  log: console.deps.log,
  everyMs: 1,
});
afterAll(async () => {
  live.close();
});

/** Opens the connection of a page, and reads its messages. */
async function* openPage(sessionId: string): AsyncGenerator<unknown> {
  const path = queryPath("live.changes", { team: console.world.ctx.teamId });
  const request = new Request(`${console.deps.url}/api/trpc/${path}`);
  const response = await answerTrpc({ ...console.deps, live }, request, await cookiesOf(sessionId));
  for await (const { name, data } of readEvents(response)) if (name === "message") yield JSON.parse(data);
}

test.each<[string, (sessionId: string, userId: string) => unknown]>([
  ["the session ends", (id) => endSession(console.deps, id)],
  ["the session expires", (id) => console.world.hot`update sessions set expires_at = now() where id = ${id}`],
  [
    "the user is removed from the team",
    (_, id) => console.world.hot`delete from memberships where user_id = ${id}`,
  ],
  ["the user is deleted", (_, id) => console.world.hot`delete from users where id = ${id}`],
])("the events of a page end when %s, without a later change", async (_, endAccess) => {
  const person = await console.person({ role: "viewer" });
  const session = await console.session(person.id);
  const other = await console.session((await console.person({ role: "viewer" })).id);
  const [page, kept] = [openPage(session.id), openPage(other.id)];
  for (const each of [page, kept])
    expect(await each.next()).toMatchObject({ value: { isLive: true, changed: [] } });
  await endAccess(session.id, person.id);
  await console.world.send();
  expect(await page.next()).toMatchObject({ done: true });
  expect(await kept.next()).toMatchObject({ value: { changed: ["emails"] } });
  await kept.return(undefined);
});

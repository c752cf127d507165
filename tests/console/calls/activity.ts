import { newId } from "#server/platform/ids";
import { createKey } from "#server/services/keys/keys";
import type { Console } from "../../support/console/console";
import type { RoleTeam } from "../../support/console/role-teams";
import type { ProcedureCalls } from "./call";

export function activityCalls({ world }: Console): ProcedureCalls {
  const keyOf = async ({ ctx }: RoleTeam) =>
    (await createKey(ctx, { name: "Shop", scopes: ["emails:send"] })).key.id;
  const callOf = async (party: RoleTeam) => {
    const id = newId();
    await world.hot`
      insert into api_requests (team_id, id, api_key_id, method, path, status)
      values (${party.teamId}, ${id}, ${await keyOf(party)}, 'POST', '/api/emails', 403)`;
    return id;
  };

  const changeOf = async (party: RoleTeam) => {
    await keyOf(party);
    const [row] = await world.hot<{ id: string }[]>`
      select id from audit_log where team_id = ${party.teamId} order by id desc limit 1`;
    return row?.id;
  };

  return {
    "activity.changes": {
      input: async (party) => ({ actor: party.userIds.owner, action: "key", after: await changeOf(party) }),
      names: ["actor", "after", "before"],
    },
    "activity.actors": { input: async () => ({}), names: [] },
    "activity.requests": {
      input: async (party) => ({ key: await keyOf(party), status: "refused", after: await callOf(party) }),
      names: ["key", "email", "after", "before"],
    },
    "activity.keys": { input: async () => ({}), names: [] },
    "activity.request": { input: async (party) => ({ id: await callOf(party) }), names: ["id"] },
  };
}

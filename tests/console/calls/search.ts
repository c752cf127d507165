import { eq } from "drizzle-orm";
import { ROLES, savedFilters } from "#db/schema/teams";
import { newId } from "#server/platform/ids";
import type { Console } from "../../support/console/console";
import type { RoleTeam } from "../../support/console/role-teams";
import type { ProcedureCalls } from "./call";

export function searchCalls({ deps }: Console): ProcedureCalls {
  /** One of each member, with the same id: every caller has a filter of their own. */
  const filterOf = async ({ teamId, userIds }: RoleTeam) => {
    const id = newId();
    const row = { teamId, id, list: "emails", name: id, filters: { status: "failed" } };
    await deps.db.insert(savedFilters).values(ROLES.map((role) => ({ ...row, userId: userIds[role] })));
    return id;
  };
  return {
    "search.everything": { input: async () => ({ text: "example" }), names: [] },
    "savedFilters.list": { input: async () => ({}), names: [] },
    "savedFilters.save": {
      input: async () => ({ list: "suppressions", name: newId(), query: "search=example.com" }),
      names: [],
      afterwards: async ({ teamId }) =>
        void (await deps.db.delete(savedFilters).where(eq(savedFilters.teamId, teamId))),
    },
    "savedFilters.rename": {
      input: async (party) => ({ id: await filterOf(party), name: newId() }),
      names: ["id"],
    },
    "savedFilters.delete": { input: async (party) => ({ id: await filterOf(party) }), names: ["id"] },
  };
}

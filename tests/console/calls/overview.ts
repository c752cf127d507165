import { createKey } from "#server/services/keys/keys";
import type { Console } from "../../support/console/console";
import type { RoleTeam } from "../../support/console/role-teams";
import type { ProcedureCalls } from "./call";

export function overviewCalls({ world }: Console): ProcedureCalls {
  const holdEmail = async ({ ctx }: RoleTeam) => {
    const { id } = await world.send({ sender: "ann@backstamp.test", to: ["delivered@backstamp.test"] }, ctx);
    await world.hot`
      update deliveries set wait_rule = 'restored', due_at = 'infinity' where team_id = ${ctx.teamId} and email_id = ${id}`;
  };
  const ofKey: ProcedureCalls[string] = {
    input: async ({ ctx }) => {
      const { key } = await createKey(ctx, { name: "Shop", scopes: ["emails:send"], domains: "all" });
      return { range: "7d", key: key.id };
    },
    names: ["key"],
  };
  return {
    "overview.traffic": ofKey,
    "overview.tags": ofKey,
    "overview.standing": { input: async () => ({}), names: [] },
    "overview.parts": { input: async () => ({}), names: [] },
    "alerts.ofTeam": { input: async () => ({}), names: [] },
    "overview.held": { input: async () => ({}), names: [] },
    "overview.settleHeld": {
      input: async (party) => {
        await holdEmail(party);
        return { to: "cancel", next: null };
      },
      names: [],
    },
  };
}

import { addSuppressions } from "#server/services/suppressions/suppress";
import type { Console } from "../../support/console/console";
import type { RoleTeam } from "../../support/console/role-teams";
import type { ProcedureCalls } from "./call";

let made = 0;

export function suppressionCalls(_: Console): ProcedureCalls {
  const entryOf = async ({ ctx }: RoleTeam) =>
    (await addSuppressions(ctx, [`gone-${++made}@example.com`])).ids;

  return {
    "suppressions.list": {
      input: async (party) => ({ search: "gone", after: (await entryOf(party))[0] }),
      names: ["after", "before"],
    },
    "suppressions.add": { input: async () => ({ text: `gone-${++made}@example.com` }), names: [] },
    "suppressions.remove": { input: async (party) => ({ ids: await entryOf(party) }), names: ["ids.0"] },
  };
}

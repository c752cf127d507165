import { addDomain, createDomain } from "#server/services/domains/write";
import type { Console } from "../../support/console/console";
import type { RoleTeam } from "../../support/console/role-teams";
import type { ProcedureCalls } from "./call";

export function domainCalls(_: Console): ProcedureCalls {
  let count = 0;
  const name = () => `domain-${++count}.example`;
  /** Creating an RSA key is slow, so all calls that do not change the domain share one. */
  const withKeys = new Map<string, Promise<string>>();
  const make = async ({ ctx }: RoleTeam) => (await createDomain(ctx, { name: name() })).id;
  const ofDomain = (more: object = {}) => ({
    input: async (party: RoleTeam) => {
      const id = withKeys.get(party.teamId) ?? make(party);
      withKeys.set(party.teamId, id);
      return { id: await id, ...more };
    },
    names: ["id"],
  });
  const ofNewDomain = (more: object = {}) => ({
    input: async ({ ctx }: RoleTeam) => ({ id: (await addDomain(ctx, { name: name() })).id, ...more }),
    names: ["id"],
  });

  return {
    "domains.list": {
      input: async ({ ctx }) => ({ after: (await addDomain(ctx, { name: name() })).id }),
      names: ["after", "before"],
    },
    "domains.names": { input: async () => ({}), names: [] },
    "domains.get": ofDomain(),
    "domains.reports": ofDomain(),
    "domains.readName": { input: async () => ({ name: name() }), names: [] },
    "domains.add": { input: async () => ({ name: name() }), names: [] },
    "domains.update": ofNewDomain({ change: { openTracking: true, dailyCap: 500 } }),
    "domains.verify": ofDomain(),
    "domains.rotateKey": ofDomain(),
    "domains.remove": ofNewDomain(),
  };
}

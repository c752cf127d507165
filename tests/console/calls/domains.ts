import { newId } from "#server/ids";
import { createDomain } from "#server/services/domains/write";
import type { Console } from "../../support/console";
import type { Party } from "../../support/parties";
import type { ProcedureCalls } from "./call";

export function domainCalls(_: Console): ProcedureCalls {
  let count = 0;
  const name = () => `domain-${++count}.example`;
  const domainOf = async ({ ctx }: Party) => (await createDomain(ctx, { name: name() })).id;
  const ofDomain = (more: object = {}) => ({
    input: async (party: Party) => ({ id: await domainOf(party), ...more }),
    names: ["id"],
  });

  return {
    "domains.list": { input: async () => ({ after: newId() }), names: ["after", "before"] },
    "domains.names": { input: async () => ({}), names: [] },
    "domains.get": ofDomain({ panel: "route53" }),
    "domains.readName": { input: async () => ({ name: name() }), names: [] },
    "domains.add": { input: async () => ({ name: name() }), names: [] },
    "domains.update": ofDomain({ change: { openTracking: true, dailyCap: 500 } }),
    "domains.verify": ofDomain(),
    "domains.rotateKey": ofDomain(),
    "domains.remove": ofDomain(),
  };
}

import { newId } from "#server/platform/ids";
import { addDomain } from "#server/services/domains/write";
import { createKey } from "#server/services/keys/keys";
import { setLink } from "#server/services/keys/links";
import type { Console } from "../../support/console/console";
import type { RoleTeam } from "../../support/console/role-teams";
import type { ProcedureCalls } from "./call";

export function keyCalls(_: Console): ProcedureCalls {
  const keyOf = async ({ ctx }: RoleTeam) =>
    (await createKey(ctx, { name: "Shop", scopes: ["emails:send"] })).key.id;
  const domainOf = async ({ ctx }: RoleTeam) =>
    (await addDomain(ctx, { name: `d${newId().replaceAll("-", "")}.example.com`, verified: true })).id;
  const linkedOf = async (party: RoleTeam) => {
    const domainId = await domainOf(party);
    const { key } = await createKey(party.ctx, {
      name: "Shop",
      scopes: ["emails:send"],
      domains: [domainId],
    });
    return { id: key.id, domainId };
  };
  const aboutKey = {
    input: async (party: RoleTeam) => ({ id: await keyOf(party) }),
    names: ["id"],
  };

  return {
    "keys.list": {
      input: async (party) => ({ after: await keyOf(party) }),
      names: ["after", "before"],
    },
    "keys.get": aboutKey,
    "keys.gauges": aboutKey,
    "keys.rejections": aboutKey,
    "keys.use": aboutKey,
    "keys.options": { input: async () => ({}), names: [] },
    "keys.create": {
      input: async (party) => ({
        name: "Shop",
        scopes: ["emails:send"],
        domains: [await domainOf(party)],
        expiresAt: null,
        limits: { other: 10 },
        clientNetworks: ["192.0.2.0/24"],
      }),
      names: ["domains.0"],
    },
    "keys.rename": {
      input: async (party) => ({ id: await keyOf(party), name: "Shop, by night" }),
      names: ["id"],
    },
    "keys.setNetworks": {
      input: async (party) => ({ id: await keyOf(party), clientNetworks: ["192.0.2.0/24"] }),
      names: ["id"],
    },
    "keys.rotate": {
      input: async (party) => ({ id: await keyOf(party), overlapSeconds: 60 }),
      names: ["id"],
    },
    "keys.revoke": aboutKey,
    "keys.link": {
      input: async (party) => ({ id: (await linkedOf(party)).id, domainId: await domainOf(party) }),
      names: ["id", "domainId"],
    },
    "keys.unlink": {
      input: async (party) => {
        const linked = await linkedOf(party);
        const second = await domainOf(party);
        await setLink(party.ctx, { keyId: linked.id, domainId: second }, true);
        return { id: linked.id, domainId: second };
      },
      names: ["id", "domainId"],
    },
  };
}

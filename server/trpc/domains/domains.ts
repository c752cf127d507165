import { z } from "zod";
import { DOMAIN_TLS } from "#db/schema/domains";
import { describeDomainName } from "#server/mail/address/domain-display";
import { getWarmUpPlan, growthPercentMax, recipientsMax, WarmUpDay } from "#server/services/domains/caps";
import { verifyDomain } from "#server/services/domains/check/verify";
import { getDomain } from "#server/services/domains/dkim/credentials";
import { rotateDomainKey } from "#server/services/domains/dkim/rotate";
import { listKeysOfDomain, listRelaysOfDomain } from "#server/services/domains/keys-and-relays";
import { listDomains, pageDomains } from "#server/services/domains/read";
import { createDomain, deleteDomain, parseNewName, updateDomain } from "#server/services/domains/write";
import { getDomainReports } from "#server/services/reports/read";
import { CURSOR, inTeam, pageRows, router } from "../init";
import { viewDomain, viewDomainRow } from "./views";

const nameCharsMax = 320;

const Name = z.string().trim().max(nameCharsMax);
const OfDomain = { id: z.string().max(60) };
const LABEL = "Must be one label of a host name: letters, digits or inner hyphens, such as send.";
const Label = z
  .string()
  .trim()
  .toLowerCase()
  .regex(/^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/, LABEL);
const Recipients = z.int().min(1).max(recipientsMax);

const Change = {
  openTracking: z.boolean().optional(),
  clickTracking: z.boolean().optional(),
  trackingSubdomain: Label.nullable().optional(),
  tls: z.enum(DOMAIN_TLS).optional(),
  dailyCap: z.int().min(0).max(recipientsMax).nullable().optional(),
  warmUp: z
    .strictObject({
      startDate: WarmUpDay.nullable(),
      firstDay: Recipients,
      growthPercent: z.int().min(1).max(growthPercentMax),
      target: Recipients.nullable(),
    })
    .nullable()
    .optional(),
};

export const domainsRouter = router({
  list: inTeam("domains:read", { name: Name.optional(), ...CURSOR }).query(
    async ({ ctx, input: { team: _, ...query } }) => {
      const { rows, hasMore } = await pageDomains(ctx.service, { ...query, limit: pageRows });
      return { rows: rows.map(viewDomainRow), hasMore };
    },
  ),
  /** All domains of the team by name, for selection. */
  names: inTeam("domains:read").query(async ({ ctx }) =>
    (await listDomains(ctx.service)).map(({ id, name, status }) => ({
      id,
      name,
      isVerified: status === "verified",
    })),
  ),
  get: inTeam("domains:read", OfDomain).query(async ({ ctx: { service }, input: { id } }) => {
    const domain = await getDomain(service, id);
    const [keys, relays, warmUpPlan] = await Promise.all([
      listKeysOfDomain(service, domain.id),
      listRelaysOfDomain(service, domain),
      getWarmUpPlan(service, domain),
    ]);
    return viewDomain(service, domain, { keys, relays, warmUpPlan });
  }),
  /** What aggregate reports say about the domain. */
  reports: inTeam("domains:read", OfDomain).query(({ ctx, input }) =>
    getDomainReports(ctx.service, input.id),
  ),
  /** A name in its canonical form, and in its own script for display. */
  readName: inTeam("domains:read", { name: Name }).query(({ input }) => {
    const name = parseNewName(input.name);
    return { name, ...describeDomainName(name) };
  }),
  add: inTeam("domains:write", { name: Name, returnPathLabel: Label.optional() }).mutation(
    async ({ ctx, input: { name, returnPathLabel } }) => {
      const { id } = await createDomain(ctx.service, { name, ...(returnPathLabel && { returnPathLabel }) });
      return { id };
    },
  ),
  update: inTeam("domains:write", { ...OfDomain, change: z.strictObject(Change) }).mutation(
    async ({ ctx, input }) => {
      await updateDomain(ctx.service, input.id, input.change);
    },
  ),
  /** Checks DNS before it responds; the result is stored with the domain. */
  verify: inTeam("domains:write", OfDomain).mutation(async ({ ctx, input }) => {
    const { status } = await verifyDomain(ctx.service, input.id);
    return { status };
  }),
  rotateKey: inTeam("domains:write", OfDomain).mutation(async ({ ctx, input }) => {
    await rotateDomainKey(ctx.service, input.id);
  }),
  remove: inTeam("domains:write", OfDomain).mutation(async ({ ctx, input }) => {
    await deleteDomain(ctx.service, input.id);
  }),
});

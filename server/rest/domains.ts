import { z } from "zod";
import { DOMAIN_TLS } from "#db/schema/domains";
import type { Ctx } from "#server/deps";
import { describeSetup } from "#server/services/domains/announce";
import { type CapChange, growthPercentMax, recipientsMax, WarmUpDay } from "#server/services/domains/caps";
import { verifyDomain } from "#server/services/domains/check/verify";
import { getDomain } from "#server/services/domains/dkim/credentials";
import { rotateDomainKey } from "#server/services/domains/dkim/rotate";
import { type Domain, pageDomains } from "#server/services/domains/read";
import {
  createDomain,
  type DomainChange,
  deleteDomain,
  type NewDomain,
  updateDomain,
} from "#server/services/domains/write";
import { absent, optional } from "#server/services/fields";
import {
  DomainResponse,
  DomainSummaryResponse,
  presentDomain,
  presentDomainSummary,
} from "#server/shared/wire/domain";
import { changed, deleted, listOf, presentChanged, presentDeleted } from "#server/shared/wire/shapes";
import { listJson, listQuery } from "./pipeline/query";
import { withApi } from "./pipeline/route";

/**
 * Stored and returned for Resend clients, which know these four. It does not affect where email is sent from.
 */
const REGIONS = ["us-east-1", "eu-west-1", "sa-east-1", "ap-northeast-1"] as const;

const LABEL = "Must be one label of a host name: 1 to 63 letters, digits or inner hyphens, such as send.";
const Label = z
  .string(LABEL)
  .transform((text) => text.toLowerCase())
  .refine((text) => /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/.test(text), LABEL);

const Capability = optional(z.enum(["enabled", "disabled"], "Must be enabled or disabled."));

const None = z.literal("none");

/** A whole number within these limits, inclusive. */
function Count(min: number, max: number) {
  const message = `Must be a whole number from ${min} to ${max}.`;
  return z.int(message).min(min, message).max(max, message);
}
const DailyCap = z.union(
  [None, Count(0, recipientsMax)],
  `Must be a whole number from 0 to ${recipientsMax}, or none.`,
);
const WarmUpInput = z.union(
  [
    None,
    z.strictObject({
      start_date: optional(WarmUpDay).describe("The first day, in UTC. Default: today."),
      first_day: Count(1, recipientsMax).describe("Recipients on the first day."),
      growth_percent: Count(1, growthPercentMax).describe("How much more each day than on the day before."),
      target: optional(Count(1, recipientsMax)).describe("Recipients per day at which the warm-up ends."),
    }),
  ],
  'Must be none, or an object: { "first_day": 50, "growth_percent": 50, "target": 20000 }.',
);

const CHANGEABLE = {
  daily_cap: optional(DailyCap).describe(
    "Maximum recipients per day (UTC) for email from this domain. Further deliveries wait for the next day. `none` removes the cap.",
  ),
  warm_up: optional(WarmUpInput).describe(
    "A daily cap that grows: `first_day` recipients on `start_date` (default: today, UTC), then `growth_percent` percent more each day, until it reaches `target` or the daily cap. `none` removes the warm-up.",
  ),
  open_tracking: optional(z.boolean("Must be true or false.")).describe(
    "Whether opens are recorded, with a pixel in the HTML. Default: false.",
  ),
  click_tracking: optional(z.boolean("Must be true or false.")).describe(
    "Whether clicks are recorded, with links that redirect. Default: false.",
  ),
  tracking_subdomain: optional(Label).describe(
    "The label of the domain's own host name in tracked links. Links use it once its CNAME record is found and it serves them over HTTPS.",
  ),
  tls: optional(z.enum(DOMAIN_TLS, "Must be opportunistic, enforced or verified.")).describe(
    "`enforced`: email is sent to MX hosts only over TLS, with any certificate. `verified`: email is sent only over TLS to servers that DANE, an enforced MTA-STS policy or a valid certificate proves; otherwise it is deferred and eventually fails. Default: `opportunistic`.",
  ),
  capabilities: z
    .preprocess(
      absent,
      z
        .strictObject({
          sending: Capability.describe("Whether email can be sent from the domain."),
          receiving: Capability.describe("For clients of Resend: stored and returned."),
        })
        .optional(),
    )
    .describe("What the domain is used for."),
};

type Changeable = z.infer<z.ZodObject<typeof CHANGEABLE>>;

const capChangeOf = ({ daily_cap: cap, warm_up: warmUp }: Changeable): CapChange => ({
  ...(cap !== undefined && { dailyCap: cap === "none" ? null : cap }),
  ...(warmUp !== undefined && {
    warmUp:
      warmUp === "none"
        ? null
        : {
            startDate: warmUp.start_date ?? null,
            firstDay: warmUp.first_day,
            growthPercent: warmUp.growth_percent,
            target: warmUp.target ?? null,
          },
  }),
});

const changeOf = (body: Changeable): DomainChange => ({
  ...capChangeOf(body),
  ...(body.open_tracking !== undefined && { openTracking: body.open_tracking }),
  ...(body.click_tracking !== undefined && { clickTracking: body.click_tracking }),
  ...(body.tracking_subdomain !== undefined && { trackingSubdomain: body.tracking_subdomain }),
  ...(body.tls !== undefined && { tls: body.tls }),
  ...(body.capabilities?.sending !== undefined && { sending: body.capabilities.sending === "enabled" }),
  ...(body.capabilities?.receiving !== undefined && { receiving: body.capabilities.receiving === "enabled" }),
});

/** The body of `POST /api/domains`. */
export const CreateDomainBody = z
  .strictObject({
    name: z
      .preprocess(absent, z.string("Must be a domain, such as example.com."))
      .describe("The domain, such as `example.com`."),
    region: optional(z.enum(REGIONS, `Must be one of ${REGIONS.join(", ")}.`)).describe(
      "For clients of Resend: stored and returned, without effect.",
    ),
    custom_return_path: optional(Label).describe(
      "The label of the host name to which bounces return, such as `send`.",
    ),
    ...CHANGEABLE,
  })
  .transform(
    (body): Omit<NewDomain, "verified"> => ({
      name: body.name,
      ...(body.region !== undefined && { region: body.region }),
      ...(body.custom_return_path !== undefined && { returnPathLabel: body.custom_return_path }),
      ...changeOf(body),
    }),
  );

/** The body of `PATCH /api/domains/{id}`. Omitted fields do not change. */
export const UpdateDomainBody = z.strictObject(CHANGEABLE).transform(changeOf);

/*
 * A key with a domain scope can read or change every domain of its team. A domain that the key adds is linked
 * to it. The links of a key decide which domains it may send from and which it may link to other keys.
 */

const present = (ctx: Ctx, domain: Domain) => presentDomain(domain, describeSetup(ctx, domain));

export const domainRoutes = [
  withApi({
    route: "POST /api/domains",
    access: { scope: "domains:write" },
    summary: "Add a domain and get its DNS records",
    description:
      "The domain is linked to the calling key, which can send from it after verification. A key with access to all domains needs no link.",
    status: 201,
    body: CreateDomainBody,
    example: { body: { name: "example.com", custom_return_path: "send" } },
    response: DomainResponse,
    errors: ["conflict"],
    handle: async ({ ctx, body }) => present(ctx, await createDomain(ctx, body)),
  }),
  withApi({
    route: "GET /api/domains",
    access: { scope: "domains:read" },
    summary: "List domains, newest first",
    query: listQuery({}, 100),
    example: { query: { limit: "20" } },
    response: listOf(DomainSummaryResponse),
    handle: async ({ ctx, query }) => listJson(await pageDomains(ctx, query), presentDomainSummary),
  }),
  withApi({
    route: "GET /api/domains/{id}",
    access: { scope: "domains:read" },
    summary: "Get a domain, its DNS records and the result of the last check of each",
    response: DomainResponse,
    handle: async ({ ctx, params }) => present(ctx, await getDomain(ctx, params.id)),
  }),
  withApi({
    route: "PATCH /api/domains/{id}",
    access: { scope: "domains:write" },
    summary: "Update a domain's tracking, TLS, capabilities, daily cap or warm-up",
    body: UpdateDomainBody,
    repeatsId: ["id"],
    example: {
      body: { tls: "enforced", warm_up: { first_day: 50, growth_percent: 50, target: 20_000 } },
    },
    response: changed("domain"),
    handle: async ({ ctx, params, body }) =>
      presentChanged("domain", await updateDomain(ctx, params.id, body)),
  }),
  withApi({
    route: "DELETE /api/domains/{id}",
    access: { scope: "domains:write" },
    summary: "Delete a domain; queued email from it is not sent",
    response: deleted("domain"),
    handle: async ({ ctx, params }) => presentDeleted("domain", await deleteDomain(ctx, params.id)),
  }),
  /**
   * The DNS check completes before the response, which contains its result. Clients that poll read the same
   * result later.
   */
  withApi({
    route: "POST /api/domains/{id}/verify",
    access: { scope: "domains:write" },
    summary: "Check a domain's DNS records now, then again at increasing intervals",
    response: DomainResponse,
    handle: async ({ ctx, params }) => present(ctx, await verifyDomain(ctx, params.id)),
  }),
  withApi({
    route: "POST /api/domains/{id}/dkim/rotate",
    access: { scope: "domains:write" },
    summary: "Rotate a domain's DKIM keys",
    description:
      "The new keys sign after their record is found in DNS. The record of the old keys must stay published until its `keep_until`.",
    response: DomainResponse,
    handle: async ({ ctx, params }) => present(ctx, await rotateDomainKey(ctx, params.id)),
  }),
];

import { z } from "zod";
import { type CapChange, growthPercentMax, recipientsMax, WarmUpDay } from "#server/services/domains/caps";
import type { DomainChange, NewDomain } from "#server/services/domains/write";
import { absent, optional } from "#server/services/emails/message-input";

/** Kept and shown again, for clients that know these four; where mail leaves from is the operator's affair. */
const REGIONS = ["us-east-1", "eu-west-1", "sa-east-1", "ap-northeast-1"] as const;

const LABEL = "Must be one label of a host name: 1 to 63 letters, digits or inner hyphens, such as send.";
const Label = z
  .string(LABEL)
  .transform((text) => text.toLowerCase())
  .refine((text) => /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/.test(text), LABEL);

const Capability = optional(z.enum(["enabled", "disabled"], "Must be enabled or disabled."));

const None = z.literal("none");

/** A whole number in these bounds. */
function Count(least: number, most: number) {
  const message = `Must be a whole number from ${least} to ${most}.`;
  return z.int(message).min(least, message).max(most, message);
}
const DailyCap = z.union(
  [None, Count(0, recipientsMax)],
  `Must be a whole number from 0 to ${recipientsMax}, or none.`,
);
const WarmUpInput = z.union(
  [
    None,
    z.strictObject({
      start_date: optional(WarmUpDay),
      first_day: Count(1, recipientsMax),
      growth_percent: Count(1, growthPercentMax),
      target: optional(Count(1, recipientsMax)),
    }),
  ],
  'Must be none, or an object: { "first_day": 50, "growth_percent": 50, "target": 20000 }.',
);

const CHANGEABLE = {
  daily_cap: optional(DailyCap).describe(
    "Recipients a day (UTC) that mail from this domain may be handed over to; what comes above waits for the next day. `none` takes it away.",
  ),
  warm_up: optional(WarmUpInput).describe(
    "A cap that grows: the first day's number from `start_date` (default: today, in UTC), each day by so many per cent more, until a day would allow `target` or the daily cap. `none` takes it away.",
  ),
  open_tracking: optional(z.boolean("Must be true or false.")),
  click_tracking: optional(z.boolean("Must be true or false.")),
  tracking_subdomain: optional(Label),
  tls: optional(z.enum(["opportunistic", "enforced"], "Must be opportunistic or enforced.")),
  capabilities: z.preprocess(
    absent,
    z.strictObject({ sending: Capability, receiving: Capability }).optional(),
  ),
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
    name: z.preprocess(absent, z.string("Give the domain, such as example.com.")),
    region: optional(z.enum(REGIONS, `Must be one of ${REGIONS.join(", ")}.`)),
    custom_return_path: optional(Label),
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

/** The body of `PATCH /api/domains/{id}`: what is left out stays as it is. */
export const UpdateDomainBody = z.strictObject(CHANGEABLE).transform(changeOf);

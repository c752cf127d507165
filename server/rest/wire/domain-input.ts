import { z } from "zod";
import { type CapChange, growthPercentMax, recipientsMax, WarmUpDay } from "#server/services/domains/caps";
import type { DomainChange, NewDomain } from "#server/services/domains/write";
import { absent, optional } from "#server/services/emails/accept/message-input";

/** Stored and returned for Resend clients, which know these four. It does not affect where email is sent from. */
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
    "Maximum recipients per day (UTC) for email from this domain. Further deliveries wait for the next day. `none` removes the cap.",
  ),
  warm_up: optional(WarmUpInput).describe(
    "A daily cap that grows: `first_day` recipients on `start_date` (default: today, UTC), then `growth_percent` percent more each day, until it reaches `target` or the daily cap. `none` removes the warm-up.",
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
    name: z.preprocess(absent, z.string("Must be a domain, such as example.com.")),
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

/** The body of `PATCH /api/domains/{id}`. Omitted fields do not change. */
export const UpdateDomainBody = z.strictObject(CHANGEABLE).transform(changeOf);

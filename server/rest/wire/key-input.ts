import { z } from "zod";
import { absent, optional } from "#server/services/emails/accept/message-input";
import { CallsPerMinute, KeyName, limitsOf } from "#server/services/keys/key-input";
import type { NewKey } from "#server/services/keys/keys";
import { ROTATION } from "#server/services/keys/rotate";
import { TIERS } from "#server/shared/rate-limits";
import { readScopes, SCOPE_PRESETS, SCOPES, type Scope } from "#server/shared/scopes";

const Name = z.preprocess(absent, KeyName);

const POSSIBLE = [...Object.keys(SCOPE_PRESETS), ...SCOPES].join(", ");
const SCOPES_EXPECTED = `Must be an array with at least one of: ${POSSIBLE}.`;

const Scopes = z
  .array(z.string(SCOPES_EXPECTED), SCOPES_EXPECTED)
  .min(1, SCOPES_EXPECTED)
  .transform((words, refine): Scope[] => {
    const read = readScopes(words);
    if ("scopes" in read) return read.scopes;
    refine.addIssue({
      code: "custom",
      message: `Unknown scope "${read.unknown.slice(0, 60)}". ${SCOPES_EXPECTED}`,
    });
    return z.NEVER;
  });

const PERMISSION = `Must be ${Object.keys(SCOPE_PRESETS).join(" or ")}. To select single scopes, use \`scopes\`.`;
const DOMAIN = "Must be the id or the name of a domain of the team.";
const DOMAINS =
  'Must be an array with at least one id or name of a domain of the team, or "all" for every domain.';
const Domains = z
  .union([z.literal("all"), z.array(z.string(DOMAIN)).min(1, DOMAINS).max(1_000, "At most 1000 domains.")], {
    error: DOMAINS,
  })
  .describe("`all` includes domains that are added later. Only a key with access to all domains can set it.");
const TIME = "Must be an ISO 8601 time with zone, such as 2030-01-31T09:00:00Z.";

const Limits = z.strictObject(Object.fromEntries(TIERS.map((tier) => [tier, optional(CallsPerMinute)])));

// Unlike elsewhere, an empty array does not count as absent: an empty list must not grant all scopes or domains.
const optionalButNotEmpty = <T extends z.ZodType>(schema: T) =>
  z.preprocess((value) => (value === null || value === "" ? undefined : value), schema.optional());

/** The body of `POST /api/api-keys`. Omitted scopes and domains default to those of the calling key. */
export const CreateKeyBody = z
  .strictObject({
    name: Name,
    permission: optional(z.enum(["full_access", "sending_access"], PERMISSION)),
    scopes: optionalButNotEmpty(Scopes),
    domain_id: optional(z.string(DOMAIN)),
    domainId: optional(z.string(DOMAIN)),
    domains: optionalButNotEmpty(Domains),
    expires_at: optional(z.iso.datetime({ offset: true, message: TIME }).transform((text) => new Date(text))),
    limits: optional(Limits),
  })
  .superRefine((body, refine) => {
    const addIssue = (path: string, message: string) =>
      refine.addIssue({ code: "custom", path: [path], message });
    if (body.permission !== undefined && body.scopes !== undefined)
      addIssue("scopes", "Send `scopes` or `permission`, not both.");
    const given = [body.domain_id, body.domainId, body.domains].filter((value) => value !== undefined);
    if (given.length > 1) addIssue("domains", "Send `domains` or `domain_id`, not both.");
  })
  .transform((body): NewKey => {
    const single = body.domain_id ?? body.domainId;
    const scopes = body.permission === undefined ? body.scopes : SCOPE_PRESETS[body.permission];
    const domains = single === undefined ? body.domains : [single];
    return {
      name: body.name,
      ...(scopes && { scopes }),
      ...(domains && { domains }),
      expiresAt: body.expires_at ?? null,
      limits: limitsOf(body.limits ?? {}),
    };
  });

/** The body of `PATCH /api/api-keys/{id}`. */
export const RenameKeyBody = z.strictObject({ name: Name });

const overlapSecondsMax = ROTATION.overlapMsMax / 1_000;
const OVERLAP = `Must be a whole number of seconds from 0 to ${overlapSecondsMax}.`;

/** The body of `POST /api/api-keys/{id}/rotate`, which is optional. */
export const RotateKeyBody = z
  .strictObject({
    overlap_seconds: optional(z.number(OVERLAP).int(OVERLAP).min(0, OVERLAP).max(overlapSecondsMax, OVERLAP)),
  })
  .transform(({ overlap_seconds }) =>
    overlap_seconds === undefined ? {} : { overlapMs: overlap_seconds * 1_000 },
  );

import { z } from "zod";
import { absent, optional } from "#server/services/fields";
import { CallsPerMinute, ClientNetworks, KeyName, limitsOf } from "#server/services/keys/key-input";
import { createKey, type NewKey, revokeKey, updateKey } from "#server/services/keys/keys";
import { setLink } from "#server/services/keys/links";
import { pageKeys } from "#server/services/keys/read";
import { ROTATION, rotateKey } from "#server/services/keys/rotate";
import { TIERS } from "#server/shared/rate-limits";
import { parseScopes, SCOPE_PRESETS, SCOPES, type Scope } from "#server/shared/scopes";
import { ApiKeyResponse, presentApiKey } from "#server/shared/wire/api-key";
import {
  changed,
  deleted,
  Id,
  listOf,
  presentChanged,
  presentDeleted,
  Time,
} from "#server/shared/wire/shapes";
import { listJson, listQuery } from "./pipeline/query";
import { withApi } from "./pipeline/route";

const Name = z.preprocess(absent, KeyName);

const POSSIBLE = [...Object.keys(SCOPE_PRESETS), ...SCOPES].join(", ");
const SCOPES_EXPECTED = `Must be an array with at least one of: ${POSSIBLE}.`;

const Scopes = z
  .array(z.string(SCOPES_EXPECTED), SCOPES_EXPECTED)
  .min(1, SCOPES_EXPECTED)
  .transform((words, refine): Scope[] => {
    const read = parseScopes(words);
    if ("scopes" in read) return read.scopes;
    refine.addIssue(`Unknown scope "${read.unknown.slice(0, 60)}". ${SCOPES_EXPECTED}`);
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
  .describe(
    "The domains that the key sends from, by id or name. Default: those of the calling key. `all` includes domains that are added later. Only a key with access to all domains can set it.",
  );
const TIME = "Must be an ISO 8601 time with zone, such as 2030-01-31T09:00:00Z.";

const Limits = z.strictObject(
  Object.fromEntries(
    TIERS.map((tier) => [
      tier,
      optional(CallsPerMinute).describe(
        `Calls per minute of ${tier === "other" ? "all other operations together" : `\`${tier}\``}.`,
      ),
    ]),
  ),
);

// Unlike elsewhere, an empty array does not count as absent: an empty list must not grant all scopes or
// domains.
const optionalButNotEmpty = <T extends z.ZodType>(schema: T) =>
  z.preprocess((value) => (value === null || value === "" ? undefined : value), schema.optional());

/** The body of `POST /api/api-keys`. Omitted scopes and domains default to those of the calling key. */
export const CreateKeyBody = z
  .strictObject({
    name: Name.describe("The program that uses the key."),
    permission: optional(z.enum(["full_access", "sending_access"], PERMISSION)).describe(
      "A preset in place of `scopes`.",
    ),
    scopes: optionalButNotEmpty(Scopes).describe(
      "The permissions of the key: scopes, or the name of a preset. Default: the scopes of the calling key.",
    ),
    domain_id: optional(z.string(DOMAIN)).describe("One domain, by id or name, in place of `domains`."),
    domainId: optional(z.string(DOMAIN)).describe("The same as `domain_id`."),
    domains: optionalButNotEmpty(Domains),
    expires_at: optional(
      z.iso.datetime({ offset: true, message: TIME }).transform((text) => new Date(text)),
    ).describe("When the key expires. Default: no expiry."),
    limits: optional(Limits).describe("Rate limits below the defaults, in calls per minute."),
    client_networks: optionalButNotEmpty(ClientNetworks).describe(
      "Networks from which the key may be used, in CIDR notation. Default: those of the calling key. An empty array: from every address.",
    ),
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
      ...(body.client_networks && { clientNetworks: body.client_networks }),
    };
  });

/** The body of `PATCH /api/api-keys/{id}`. */
export const UpdateKeyBody = z
  .strictObject({
    name: z.preprocess(absent, KeyName.optional()).describe("The new name."),
    client_networks: optionalButNotEmpty(ClientNetworks).describe(
      "Replaces the networks from which the key may be used. An empty array: from every address.",
    ),
  })
  .superRefine(({ name, client_networks: networks }, refine) => {
    if (name === undefined && networks === undefined)
      refine.addIssue({ code: "custom", path: ["name"], message: "Send `name`, `client_networks` or both." });
  })
  .transform(({ name, client_networks: clientNetworks }) => ({
    ...(name !== undefined && { name }),
    ...(clientNetworks && { clientNetworks }),
  }));

const overlapSecondsMax = ROTATION.overlapMsMax / 1_000;
const OVERLAP = `Must be a whole number of seconds from 0 to ${overlapSecondsMax}.`;

/** The body of `POST /api/api-keys/{id}/rotate`, which is optional. */
export const RotateKeyBody = z
  .strictObject({
    overlap_seconds: optional(
      z.number(OVERLAP).int(OVERLAP).min(0, OVERLAP).max(overlapSecondsMax, OVERLAP),
    ).describe("How long the old token remains valid, in seconds. Default: one day."),
  })
  .transform(({ overlap_seconds }) =>
    overlap_seconds === undefined ? {} : { overlapMs: overlap_seconds * 1_000 },
  );

const Token = z
  .string()
  .describe("The complete key. Only this response contains it; it cannot be read again.");

export const keyRoutes = [
  /**
   * Only this response and that of a rotation contain a token. A key that requests more permissions than it
   * has itself is rejected with the 403 of the specification.
   */
  withApi({
    route: "POST /api/api-keys",
    access: { scope: "keys:write" },
    createsKey: true,
    summary: "Create an API key with at most the permissions of the calling key",
    status: 201,
    body: CreateKeyBody,
    example: { body: { name: "Shop", scopes: ["emails:send", "emails:read"] } },
    response: z.object({ id: Id, token: Token }),
    errors: ["conflict"],
    handle: async ({ ctx, body }) => {
      const { key, token } = await createKey(ctx, body);
      return { id: key.id, token };
    },
  }),
  withApi({
    route: "GET /api/api-keys",
    access: { scope: "keys:read" },
    summary: "List API keys, newest first, with last use and recent rejected requests",
    query: listQuery({}, 100),
    example: { query: { limit: "20" } },
    response: listOf(ApiKeyResponse),
    handle: async ({ ctx, query }) => listJson(await pageKeys(ctx, query), presentApiKey),
  }),
  withApi({
    route: "PATCH /api/api-keys/{id}",
    access: { scope: "keys:write" },
    summary: "Change the name of an API key, or the networks from which it may be used",
    body: UpdateKeyBody,
    example: { body: { name: "Shop, nightly jobs" } },
    response: changed("api_key"),
    handle: async ({ ctx, params, body }) => presentChanged("api_key", await updateKey(ctx, params.id, body)),
  }),
  withApi({
    route: "DELETE /api/api-keys/{id}",
    access: { scope: "keys:write" },
    summary: "Revoke an API key immediately",
    response: deleted("api_key"),
    handle: async ({ ctx, params }) => presentDeleted("api_key", await revokeKey(ctx, params.id)),
  }),
  withApi({
    route: "POST /api/api-keys/{id}/rotate",
    access: { scope: "keys:write" },
    createsKey: true,
    summary: "Rotate an API key; the old token remains valid for `overlap_seconds`",
    status: 201,
    body: RotateKeyBody,
    bodyForm: "optional",
    example: { body: { overlap_seconds: 3600 } },
    response: changed("api_key").extend({ token: Token, rotated_from: Id, previous_expires_at: Time }),
    errors: ["conflict"],
    handle: async ({ ctx, params: { id }, body }) => {
      const { key, token, previousUntil } = await rotateKey(ctx, id, body);
      return {
        ...presentChanged("api_key", key),
        token,
        rotated_from: id,
        previous_expires_at: previousUntil.toISOString(),
      };
    },
  }),
  ...(["PUT", "DELETE"] as const).map((method) =>
    withApi({
      route: `${method} /api/api-keys/{id}/domains/{domain_id}`,
      access: { scope: "keys:write" },
      summary: `${method === "PUT" ? "Link an API key to" : "Unlink an API key from"} a domain that the calling key may send from`,
      response: z.object({
        object: z.literal("api_key_domain"),
        id: Id,
        domain_id: Id,
        linked: z.literal(method === "PUT"),
      }),
      errors: ["conflict"],
      handle: async ({ ctx, params: { id, domain_id } }) => {
        const linked = method === "PUT";
        await setLink(ctx, { keyId: id, domainId: domain_id }, linked);
        return { object: "api_key_domain" as const, id, domain_id, linked };
      },
    }),
  ),
];

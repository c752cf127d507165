import { BUILT_IN_DOMAIN } from "#db/schema/domains";
import { applyLimits, changeKey } from "#server/services/keys/change";
import { createKey, revokeKey } from "#server/services/keys/keys";
import { listKeys } from "#server/services/keys/read";
import { ROTATION, rotateKey } from "#server/services/keys/rotate";
import { hourMs } from "#server/shared/durations";
import { SCOPES } from "#server/shared/scopes";
import { type ApiKey, presentApiKey } from "#server/shared/wire/api-key";
import {
  asDomains,
  asId,
  asLimit,
  asName,
  asNetworks,
  asScopes,
  asTime,
  numberOf,
  orWord,
} from "../arguments";
import { argument, definedOf, examples, inTeam, option, optionWithDefault, requiredOption } from "../command";
import { listOutput, output } from "../terminal";

const overlapHoursMax = ROTATION.overlapMsMax / hourMs;

const id = argument("id of the key, as key list shows it", asId);
const settings = {
  expires: option(
    "time",
    "when it expires, ISO 8601, or never; a time in the past is allowed",
    orWord("never", asTime),
  ),
  limit: option(
    "class=number",
    "requests per minute for one class (POST /api/emails, GET /api/emails, POST /api/templates, other), or class=default; repeatable",
    asLimit,
  ),
  networks: option(
    "networks",
    "networks from which the key may be used, in CIDR notation, separated by commas, or any",
    asNetworks,
  ),
};

export const keyCommands = {
  create: inTeam({
    about: "creates a key and prints its token, which is shown only once",
    params: {
      name: requiredOption("name", "name of the key", asName),
      scopes: requiredOption(
        "scopes",
        "scopes separated by commas, or full_access, or sending_access",
        asScopes,
      ),
      domains: option(
        "domains",
        `domains that the key may send from, separated by commas, or all (default: ${BUILT_IN_DOMAIN} only); domains that the key adds are included`,
        asDomains,
      ),
      ...settings,
    },
    help: examples(
      "key create --name app --scopes emails:send,emails:read --domains example.com,example.org",
      'key create --name bulk --scopes sending_access --domains all --expires 2030-01-31 --limit "POST /api/emails=1000"',
    ),
    run: async (ctx, { name, scopes, domains, expires = null, limit = {}, networks }, team) => {
      const { key, token } = await createKey(ctx, {
        name,
        scopes,
        domains: domains ?? [BUILT_IN_DOMAIN],
        expiresAt: expires,
        limits: applyLimits({}, limit),
        ...(networks && { clientNetworks: networks }),
      });
      return {
        json: { ...presentApiKey(key), token, team_id: team.id },
        text: [
          `Created key ${key.name} (${key.id}) of team ${team.name}.`,
          { token, ...grantOf(key) },
          SHOWN_ONCE,
        ],
        notes: [
          ...(domains ? [] : [NO_DOMAINS]),
          ...(expires && expires <= ctx.clock()
            ? ["The expiry is in the past, so the API rejects this key."]
            : []),
        ],
      };
    },
  }),

  list: inTeam({
    about: "lists a team's keys, without revoked keys",
    run: async (ctx, _values, team) => {
      const keys = await listKeys(ctx);
      const empty = `Team ${team.name} has no keys. Create one: key create --help`;
      const rows = keys.map((key) => ({
        id: key.id,
        name: key.name,
        token: `re_${key.tokenId}_…`,
        ...grantOf(key),
        last_used: key.lastUsedAt ?? "never",
      }));
      return { ...listOutput(rows, empty), json: { data: keys.map(presentApiKey) } };
    },
  }),

  set: inTeam({
    about: "changes a key's domains, expiry, limits or client networks, with immediate effect",
    params: {
      id,
      domains: option(
        "domains",
        "domains that replace the current ones, separated by commas, or all",
        asDomains,
      ),
      ...settings,
    },
    needsOneOf: ["domains", "expires", "limit", "networks"],
    run: async (ctx, { id, domains, expires: expiresAt, limit: limits, networks: clientNetworks }, team) => {
      const changed = await changeKey(ctx, id, definedOf({ domains, expiresAt, limits, clientNetworks }));
      return output(
        presentApiKey(changed),
        `Updated key ${changed.name} (${changed.id}) of team ${team.name}.`,
        grantOf(changed),
      );
    },
  }),

  rotate: inTeam({
    about: "replaces a key and prints the new token; the old token stays valid for a time",
    params: {
      id,
      overlap: optionWithDefault(
        "hours",
        "hours for which both tokens are valid",
        numberOf(0, overlapHoursMax),
        ROTATION.overlapMs / hourMs,
      ),
    },
    run: async (ctx, { id, overlap }, team) => {
      const { key, token, previousUntil } = await rotateKey(ctx, id, { overlapMs: overlap * hourMs });
      return output(
        {
          ...presentApiKey(key),
          token,
          team_id: team.id,
          rotated_from: id,
          previous_expires_at: previousUntil.toISOString(),
        },
        `Created key ${key.name} (${key.id}) of team ${team.name}. It replaces ${id}.`,
        { token, old_token_expires: previousUntil },
        SHOWN_ONCE,
      );
    },
  }),

  revoke: inTeam({
    about: "revokes a key, with immediate effect",
    params: { id },
    run: async (ctx, { id }) => {
      await revokeKey(ctx, id);
      return output({ id, revoked: true }, `Revoked key ${id}.`);
    },
  }),
};

const SHOWN_ONCE = "The token is shown only once. Backstamp stores only its hash.";
const NO_DOMAINS = `Without --domains, this key can send only from ${BUILT_IN_DOMAIN} and from domains that it adds.`;

/** The permissions of a key, as text. */
const grantOf = ({ scopes, allDomains, links, expiresAt, limits, clientNetworks }: ApiKey) => ({
  scopes: SCOPES.every((scope) => scopes.includes(scope)) ? "full_access" : scopes,
  domains: allDomains ? "all" : links.map(({ name }) => name),
  expires: expiresAt ?? "never",
  networks: clientNetworks.length > 0 ? clientNetworks : "any",
  limits:
    Object.entries(limits)
      .map(([tier, number]) => `${tier}=${number}`)
      .join(", ") || "default",
});

import type { HotSql } from "#db/client";
import { startTotp } from "#server/services/account/factors/totp";
import { addRelay } from "#server/services/relays/write";
import { type Console, PASSWORD } from "./console";
import type { CallResult, RoleTeam } from "./role-teams";

/** A secret and its origin, such as `webhooks.secret`. */
type Secret = { text: string; of: string };

/** Columns whose name or type suggests a secret, and which contain none. */
const PUBLIC_COLUMNS = [
  "api_keys.token_id",
  "attachments.content",
  "callback_tokens.body",
  "idempotency_keys.fingerprint",
  "passkeys.public_key",
  "captured_messages.raw",
  "domains.ownership_token",
  "erasures.address_hash",
];

/**
 * Procedures that return a secret once, to its creator: the column of that secret, or the field of the
 * response.
 */
const RETURNED_ONCE: Record<string, { of?: string; field?: string }> = {
  "account.startAuthenticator": { of: "totp_factors.secret" },
  "webhooks.create": { of: "webhooks.secret" },
  "webhooks.rotate": { of: "webhooks.secret" },
  "keys.create": { field: "token" },
  "keys.rotate": { field: "token" },
  "invitations.create": { field: "link" },
  "invitations.renew": { field: "link" },
};

/**
 * Collects every secret of an installation: what its vault encrypts from now on, the values in columns of
 * hashes and keys, and the secrets that some procedures return once. Call it before the first secret is
 * created.
 */
export function watchSecrets(console: Console) {
  const { vault } = console.deps;
  const secrets: Secret[] = [{ text: PASSWORD, of: "a password" }];
  const responses: { procedure: string; text: string }[] = [];
  const seal = vault.seal;
  vault.seal = (text, place) => {
    const sealed = seal(text, place);
    const of = `${place.table}.${place.column}`;
    secrets.push({ text, of }, { text: sealed, of: `${of}, sealed` });
    return sealed;
  };

  return {
    /** Adds secrets to a team that no call of the matrix creates. */
    addSecrets: async ({ teamId, userIds }: RoleTeam) => {
      const password = "canary-of-a-relay";
      secrets.push({ text: password, of: "a relay's password" });
      const url = `smtps://backstamp:${password}@smtp.example.com:465`;
      await addRelay(console.deps, { teamId, domainId: null, name: "Canary", url });
      await startTotp(console.deps, { userId: userIds.owner, email: "ann@example.org", host: "localhost" });
    },
    record: (procedure: string, answer: CallResult) => {
      const data = answer.ok ? answer.data : answer.message;
      responses.push({ procedure, text: JSON.stringify(data) ?? "" });
      const { field } = RETURNED_ONCE[procedure] ?? {};
      const returned = field && (data as Record<string, unknown>)[field];
      if (typeof returned === "string") secrets.push({ text: returned, of: procedure });
    },
    /**
     * The procedures whose responses contained a secret that they must not return, with the secret's origin.
     */
    findLeaks: async (hot: HotSql): Promise<string[]> => {
      const all = [...secrets, ...(await readStored(hot))].filter(({ text }) => text !== "");
      const returned = responses.flatMap(({ procedure, text }) =>
        all
          .filter(({ of }) => of !== procedure && of !== RETURNED_ONCE[procedure]?.of)
          .filter((secret) => text.includes(JSON.stringify(secret.text).slice(1, -1)))
          .map(({ of }) => `${procedure} tells ${of}`),
      );
      return [...new Set(returned)];
    },
    /** The origins of all known secrets. */
    known: async (hot: HotSql): Promise<Set<string>> =>
      new Set([...secrets, ...(await readStored(hot))].map(({ of }) => of)),
  };
}

export type Secrets = ReturnType<typeof watchSecrets>;

/** The values in the columns of hashes and keys, in each encoding that a response could contain. */
async function readStored(hot: HotSql): Promise<Secret[]> {
  const columns = await hot<{ table: string; column: string; isBytes: boolean }[]>`
    select table_name as table, column_name as column, data_type = 'bytea' as "isBytes"
    from information_schema.columns
    where table_schema = 'public' and data_type in ('bytea', 'text')
      and table_name not in (select relname from pg_class where relispartition)
      and (data_type = 'bytea' or column_name ~ '(secret|hash|password|private_key|token)')`;
  const closed = columns.filter(({ table, column }) => !PUBLIC_COLUMNS.includes(`${table}.${column}`));
  const stored = await Promise.all(
    closed.map(async ({ table, column, isBytes }) => {
      const of = `${table}.${column}`;
      const rows = await hot.unsafe<{ value: Buffer | string }[]>(
        `select distinct "${column}" as value from "${table}" where "${column}" is not null`,
      );
      return rows.flatMap(({ value }) =>
        isBytes
          ? (["hex", "base64", "base64url"] as const).map((form) => ({
              text: Buffer.from(value as Buffer).toString(form),
              of,
            }))
          : [{ text: String(value), of }],
      );
    }),
  );
  return stored.flat();
}

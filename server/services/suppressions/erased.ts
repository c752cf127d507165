import { type SQL, sql } from "drizzle-orm";
import type { AnyPgColumn } from "drizzle-orm/pg-core";
import { ERASED_DOMAIN } from "#db/schema/audit";

/*
 * The suppression list contains an erased address as `erased-<hash>@erased.invalid`, so that it stays
 * blocked. The hash has a random key of the installation (`erasure_keys`) and the team, so the lists of two
 * teams cannot be compared. Before the first erasure there is no key, and these expressions are null.
 */

/**
 * SQL: how the suppression list contains this address once it is erased; null before the installation's first
 * erasure.
 */
export const erasedForm = (teamId: string, address: string): string => `(
  select 'erased-' || left(encode(sha256(k.key || sha256(k.key || convert_to(${teamId}::text || ' ' || ${address}, 'UTF8'))), 'hex'), 40)
    || '@${ERASED_DOMAIN}' from erasure_keys k)`;

/**
 * SQL: the same for a check before sending. Null for a team without an erased address in its list, so that a
 * statement computes hashes only for teams that have one.
 */
export const listedForm = (teamId: string, address: string): string => `(case when exists (
  select from suppressions x where x.team_id = ${teamId} and x.address ~>=~ 'erased-' and x.address ~<~ 'erased.')
  then ${erasedForm(teamId, address)} end)`;

/** The same for values. `address` is in lower case. */
export const erasedFormOf = (teamId: string | AnyPgColumn, address: string): SQL =>
  sql`(select ${sql.raw(erasedForm("v.team_id", "v.address"))}
    from (select ${teamId}::uuid as team_id, ${address}::text as address) v)`;

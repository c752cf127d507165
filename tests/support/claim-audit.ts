import type { HotSql } from "#db/client";

export type AuditedClaim = { deliveryId: string; attempt: number; leaseToken: string; backend: number };

/**
 * Records every claim in the transaction that makes it, by a trigger of this database: the row, the attempt,
 * the token and the connection. The record of a claim that is released unused is deleted, because its attempt
 * is not counted either.
 */
export async function auditClaims(hot: HotSql): Promise<void> {
  await hot.unsafe(`
    create table claim_audit (
      id bigint generated always as identity primary key,
      delivery_id uuid not null, attempt int not null, lease_token uuid not null, backend int not null
    );
    create function write_claim_audit() returns trigger language plpgsql as $$ begin
      if new.lease_token is not null and new.lease_token is distinct from old.lease_token then
        insert into claim_audit (delivery_id, attempt, lease_token, backend)
        values (new.id, new.attempts, new.lease_token, pg_backend_pid());
      elsif old.status = 'sending' and new.status = 'queued' and new.attempts = old.attempts - 1 then
        delete from claim_audit where delivery_id = old.id and attempt = old.attempts and lease_token = old.lease_token;
      end if;
      return null;
    end $$;
    create trigger claim_audit after update on deliveries for each row execute function write_claim_audit();`);
}

/** All recorded claims, in the order of their insertion. */
export function readClaims(hot: HotSql): Promise<AuditedClaim[]> {
  return hot<AuditedClaim[]>`
    select delivery_id as "deliveryId", attempt, lease_token as "leaseToken", backend from claim_audit order by id`;
}

/** Each (row, attempt) that was claimed more than once, with the count. */
export function claimedTwice(claims: readonly AuditedClaim[]): [string, number][] {
  const counts = new Map<string, number>();
  for (const { deliveryId, attempt } of claims) {
    const name = `${deliveryId} ${attempt}`;
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return [...counts].filter(([, count]) => count > 1);
}

import { setTimeout as wait } from "node:timers/promises";
import type { Deps } from "#server/deps";
import { firstId } from "#server/platform/ids";
import { errorFacts } from "#server/platform/log";
import { SEALED_COLUMNS, type SealedColumn } from "#server/platform/secrets/sealed-columns";
import { type RegistryDeps, refreshKeyring, UNKNOWN_SECRET } from "./registry";
import { countValues, listValues, writeValues } from "./stored-values";

/** Values per transaction. A small number keeps row locks short. */
const valuesPerBatch = 100;
/** Rows that another transaction changed are skipped, and found in a later pass. */
const passesMax = 20;
const passEveryMs = 100;

export type ResealDeps = RegistryDeps & Pick<Deps, "vault" | "log">;

/** The maximum number of rows that are named. */
const namedMax = 20;

/**
 * `unreadable`: values that no configured secret opens; `unreadableRows` names the rows of the first of them.
 * `isComplete` is false if the work was stopped.
 */
export type Resealed = {
  resealed: number;
  unreadable: number;
  unreadableRows: { table: string; id: string }[];
  isComplete: boolean;
};

/**
 * Encrypts every stored value with the active secret that has another one. Each batch is one transaction that
 * locks its rows, so a concurrent change is never overwritten. The values themselves show what is done: after
 * a crash, the next run continues there. Stops between two batches when `shouldContinue` returns false.
 */
export async function resealStored(
  deps: ResealDeps,
  shouldContinue: () => boolean = () => true,
): Promise<Resealed> {
  let resealed = 0;
  for (let pass = 0; pass < passesMax; pass++) {
    let unreadable = 0;
    const unreadableRows: Resealed["unreadableRows"] = [];
    for (const column of SEALED_COLUMNS) {
      for (let after: string | null = firstId; after !== null; ) {
        if (!shouldContinue()) return { resealed, unreadable, unreadableRows, isComplete: false };
        const batch: Batch = await resealBatch(deps, column, after);
        after = batch.last;
        resealed += batch.resealed;
        unreadable += batch.unreadable.length;
        unreadableRows.push(...batch.unreadable.map((id) => ({ table: column.table, id })));
        unreadableRows.splice(namedMax);
      }
    }
    // The values that the active secret did not encrypt.
    const others = (await countValues(deps.hot)).filter(
      ({ secretId }) => secretId !== deps.keyring.active().id,
    );
    if (others.reduce((sum, { count }) => sum + count, 0) <= unreadable)
      return { resealed, unreadable, unreadableRows, isComplete: true };
    await wait(passEveryMs);
  }
  return { resealed, unreadable: 0, unreadableRows: [], isComplete: false };
}

type Batch = { last: string | null; resealed: number; unreadable: string[] };

const resealBatch = (
  { hot, keyring, vault, log }: ResealDeps,
  column: SealedColumn,
  after: string,
): Promise<Batch> =>
  hot.begin(async (transaction) => {
    const tx = transaction as unknown as typeof hot;
    const rows = await listValues(tx, column, {
      limit: valuesPerBatch,
      except: keyring.active().id,
      isLocked: true,
      after,
    });
    const unreadable: string[] = [];
    let fault: unknown;
    const fresh = rows.flatMap(({ value, ...row }) => {
      const location = column.locationOf(row);
      try {
        return [{ id: row.id, value: vault.seal(vault.open(value, location), location) }];
      } catch (error) {
        unreadable.push(row.id);
        fault = error;
        return [];
      }
    });
    if (unreadable.length > 0)
      log.error("secret.values_unreadable", {
        table: column.table,
        column: column.column,
        count: unreadable.length,
        ids: unreadable.slice(0, namedMax),
        ...errorFacts(fault),
      });
    if (fresh.length > 0) await writeValues(tx, column, fresh);
    const last = rows.length < valuesPerBatch ? null : (rows.at(-1)?.id ?? null);
    return { last, resealed: fresh.length, unreadable };
  }) as Promise<Batch>;

/**
 * Housekeeping of every worker: learns which secret is active, and encrypts what is stored after a new one
 * became active. When everything is stored with it, and every process has had the time to learn it, this
 * costs one query; once an hour it also finds what a process has stored that was not restarted.
 */
export async function maintainSecrets(deps: ResealDeps, shouldContinue: () => boolean): Promise<void> {
  const { active, isKnown } = await refreshKeyring(deps);
  if (!isKnown) deps.log.error("secret.unknown", { message: UNKNOWN_SECRET });
  if (!isKnown || active === null || (active.isResealed && !active.isCheckDue)) return;
  const { resealed, unreadable, isComplete } = await resealStored(deps, shouldContinue);
  if (resealed > 0) deps.log.info("secret.resealed", { secretId: active.id, resealed, unreadable });
  if (isComplete) await recordResealed(deps, active.id);
}

/**
 * Records that everything is stored with the active secret, once every process has had the time to learn it.
 */
export const recordResealed = ({ hot }: ResealDeps, id: string) =>
  hot`update installation_secrets set resealed_at = now() where id = ${id} and active_from < now()`;

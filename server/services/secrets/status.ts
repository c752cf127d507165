import type { HotSql } from "#db/client";
import { firstIdAt } from "#server/platform/ids";
import { dayMs } from "#server/shared/durations";
import { findActive, listRegisteredSecrets, type RegistryDeps } from "./registry";
import { countValues } from "./stored-values";

/**
 * How long the links of an email work after it was accepted, at least: unsubscribing, clicks and opens. After
 * it, the secret that signed them may be removed.
 */
export const linkDays = 365;
const unrecorded = {
  checkValue: "",
  activeFromMs: null,
  isResealed: false,
  isCheckDue: false,
  isLost: false,
};

/** The state of one secret. Times in ISO 8601. */
export type SecretStatus = {
  id: string;
  /**
   * `current` seals and signs, `former` did, `waiting` was never activated, `lost` was replaced without being
   * known.
   */
  state: "current" | "former" | "waiting" | "lost";
  /**
   * Where the operator finds it: 0 is the configured secret, 1 the first of the old ones. Null if it is not
   * configured.
   */
  position: number | null;
  activeFrom: string | null;
  activeUntil: string | null;
  /** Stored values that only this secret opens. */
  values: { name: string; count: number }[];
  /** Whether email waits that this secret signs. */
  hasQueued: boolean;
  /** Links that it signed work at least until then. Null if it signed none. */
  linksUntil: string | null;
  /** Whether nothing needs it any longer. */
  isRemovable: boolean;
  /** Whether only links that it signed need it, so that removing it earlier breaks nothing else. */
  isOnlyForLinks: boolean;
};

/**
 * The secrets of the installation, the current one first, and what each is still needed for. `unnamed` counts
 * values of release 0.2.0, which do not name their secret; while there are any, no secret is removable.
 */
export async function getSecretStatus(
  { hot, keyring }: RegistryDeps,
  now: Date,
): Promise<{ secrets: SecretStatus[]; unnamed: number }> {
  const [recorded, counts] = [await listRegisteredSecrets(hot), await countValues(hot)];
  // The first process that starts with a secret records it.
  const isRecorded = recorded.some(({ id }) => id === keyring.given.id);
  const registry = isRecorded ? recorded : [...recorded, { ...unrecorded, id: keyring.given.id }];
  const unnamed = counts.filter(({ secretId }) => secretId === "").reduce((sum, { count }) => sum + count, 0);
  const periods = registry.filter(({ activeFromMs }) => activeFromMs !== null);
  const current = findActive(registry);
  const secrets: SecretStatus[] = [];
  for (const { id, activeFromMs, isLost } of registry) {
    const untilMs = periods[periods.findIndex((period) => period.id === id) + 1]?.activeFromMs ?? null;
    const state = isLost
      ? "lost"
      : id === current?.id
        ? "current"
        : activeFromMs === null
          ? "waiting"
          : "former";
    const position = keyring.keys.findIndex((key) => key.id === id);
    const values = counts
      .filter(({ secretId }) => secretId === id)
      .map(({ name, count }) => ({ name, count }));
    const until = state === "former" && untilMs !== null ? new Date(untilMs) : null;
    const hasQueued = until !== null && (await hasQueuedBefore(hot, until));
    const linksUntil = until && new Date(until.getTime() + linkDays * dayMs);
    const isUnused = position > 0 && state !== "current" && unnamed + values.length === 0 && !hasQueued;
    const areLinksOld = linksUntil === null || linksUntil <= now;
    secrets.push({
      id,
      state,
      position: position >= 0 ? position : null,
      activeFrom: activeFromMs ? new Date(activeFromMs).toISOString() : null,
      activeUntil: until?.toISOString() ?? null,
      values,
      hasQueued,
      linksUntil: linksUntil?.toISOString() ?? null,
      isRemovable: isUnused && areLinksOld,
      isOnlyForLinks: isUnused && !areLinksOld,
    });
  }
  const order = ["current", "waiting", "former", "lost"];
  return { secrets: secrets.sort((a, b) => order.indexOf(a.state) - order.indexOf(b.state)), unnamed };
}

/** Whether any delivery waits whose email was accepted before this time. */
async function hasQueuedBefore(hot: HotSql, until: Date): Promise<boolean> {
  const before = firstIdAt(until);
  // Each part has the condition of a partial index.
  const [row] = await hot<{ hasQueued: boolean }[]>`
    select exists (select from deliveries where status in ('queued', 'scheduled') and lapses < 3 and email_id < ${before})
      or exists (select from deliveries where status = 'queued' and lapses >= 3 and email_id < ${before})
      or exists (select from deliveries where status = 'sending' and email_id < ${before}) as "hasQueued"`;
  return row?.hasQueued ?? false;
}

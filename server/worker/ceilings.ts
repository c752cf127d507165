import { readCeilings } from "#db/destination-limits";
import type { Claim } from "#db/queue";
import type { WorkerDeps } from "#server/deps";
import type { Paces } from "./paces";

/** Tells the paces what the operator allows the destinations of these claims, as it is now. */
export type HeedCeilings = (claims: readonly Claim[]) => Promise<void>;

/** A destination is only ours to spare where mail goes straight to it; a relay spares those behind it by itself. */
export function createHeedCeilings(
  { hot, transport }: Pick<WorkerDeps, "hot" | "transport">,
  paces: Pick<Paces, "limit">,
  workerId: string,
): HeedCeilings {
  if (transport?.name !== "direct") return async () => {};
  return async (claims) => {
    const domains = [...new Set(claims.map(({ domain }) => domain))];
    const ceilings = await readCeilings(hot, { workerId, domains });
    for (const domain of domains) paces.limit(domain, ceilings.get(domain) ?? null);
  };
}

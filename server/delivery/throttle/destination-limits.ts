import type { WorkerDeps } from "#server/deps";
import { readDestinationShares } from "#server/services/destinations/worker-limits";
import type { Claim } from "../queue/claims";
import type { Throttles } from "./destination-throttles";

/** Tells the throttles what the operator allows the destinations of these claims, as it is now. */
export type ApplyDestinationLimits = (claims: readonly Claim[]) => Promise<void>;

/** Limits apply to direct delivery only. A relay throttles the destinations behind it itself. */
export function createDestinationLimits(
  { hot, transport }: Pick<WorkerDeps, "hot" | "transport">,
  throttles: Pick<Throttles, "setLimit">,
  workerId: string,
): ApplyDestinationLimits {
  if (transport?.name !== "direct") return async () => {};
  return async (claims) => {
    const domains = [...new Set(claims.map(({ domain }) => domain))];
    const shares = await readDestinationShares(hot, { workerId, domains });
    for (const domain of domains) throttles.setLimit(domain, shares.get(domain) ?? null);
  };
}

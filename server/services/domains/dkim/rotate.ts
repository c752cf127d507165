import { sql } from "drizzle-orm";
import { domains } from "#db/schema/domains";
import type { Ctx } from "#server/deps";
import { recordAudit } from "../../audit/record";
import { announceDomain } from "../announce";
import { type Domain, findDomain, isDomain } from "../read";
import { findEditableDomain } from "../write";
import { withCredentials } from "./credentials";
import { addSuccessors, generateSuccessors } from "./keys";

/**
 * Creates new DKIM keys for a domain, with new selectors. The previous keys continue to sign until the new
 * RSA record is found in DNS, which is checked from now on at growing intervals. They then stay published
 * until the email they signed has been delivered. Calling it again during a rotation changes nothing.
 */
export async function rotateDomainKey(ctx: Ctx, id: string): Promise<Domain> {
  const before = await withCredentials(ctx, await findEditableDomain(ctx, id));
  const successors = await generateSuccessors(ctx, before);
  const domain = await ctx.db.transaction(async (tx) => {
    await addSuccessors(tx, ctx, before, successors);
    await tx.update(domains).set({ nextCheckAt: sql`now()` }).where(isDomain(ctx, id));
    const txCtx = { ...ctx, db: tx };
    const after = await findDomain(txCtx, id);
    const made = after.dkimKeys.filter(({ id }) => before.dkimKeys.every((key) => key.id !== id));
    if (made.length > 0) {
      const selectors = made.map(({ selector }) => selector);
      await recordAudit(tx, ctx, { action: "domain.key_rotated", subject: after, detail: { selectors } });
      await announceDomain(txCtx, "domain.updated", after);
    }
    return after;
  });
  ctx.log.info("domain.dkim_rotated", { domainId: id });
  ctx.wake();
  return domain;
}

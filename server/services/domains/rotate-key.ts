import { and, eq, sql } from "drizzle-orm";
import { domains } from "#db/schema/domains";
import type { Ctx } from "#server/deps";
import { recordAudit } from "../audit/record";
import { announceDomain } from "./announce-domain";
import { withCredentials } from "./credentials";
import { addSuccessors, makeSuccessors } from "./dkim-keys";
import { type Domain, findDomain } from "./read";
import { findOwn } from "./write";

/**
 * Makes new DKIM keys for a domain, under selectors of their own. The ones before go on signing until the new record of RSA
 * is seen in DNS, which is looked for at growing intervals from now on; then they stay published until the mail of their
 * time is gone. Asked for again meanwhile it changes nothing.
 */
export async function rotateDomainKey(ctx: Ctx, id: string): Promise<Domain> {
  const before = await withCredentials(ctx, await findOwn(ctx, id));
  const successors = await makeSuccessors(ctx, before);
  const domain = await ctx.db.transaction(async (tx) => {
    await addSuccessors(tx, ctx, before, successors);
    await tx
      .update(domains)
      .set({ nextCheckAt: sql`now()` })
      .where(and(eq(domains.teamId, ctx.teamId), eq(domains.id, id)));
    const inside = { ...ctx, db: tx };
    const after = await findDomain(inside, id);
    const made = after.dkimKeys.filter(({ id }) => before.dkimKeys.every((key) => key.id !== id));
    if (made.length > 0) {
      const selectors = made.map(({ selector }) => selector);
      await recordAudit(tx, ctx, { action: "domain.key_rotated", subject: after, detail: { selectors } });
      await announceDomain(inside, "domain.updated", after);
    }
    return after;
  });
  ctx.log.info("domain.dkim_rotated", { domainId: id });
  ctx.wake();
  return domain;
}

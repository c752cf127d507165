import type { Ctx } from "#server/deps";
import type { QueryDns } from "#server/mail/dns/dns";
import { newId } from "#server/platform/ids";
import type { DomainRecord } from "#server/shared/wire/domain";
import { type Domain, findDomain } from "../read";
import { checkDomainRecords } from "./doctor";
import { PROOF } from "./evaluate";
import type { FaultName } from "./faults";
import { findHolder, type HolderAnswer, type HolderCheck } from "./holder";
import { recordChecks } from "./record-result";
import { recordsOf } from "./records";
import { checkRecord } from "./records-in-dns";

/** Time limit of the recheck in ms; it delays the call that verifies the other domain. */
const holderMsMax = 5_000;

/** Faults that mean the record is gone. Any other fault means that it is, or may be, still published. */
const GONE: readonly FaultName[] = ["missing", "wrong_value", "proxied_cname"];
const UNKNOWN: readonly FaultName[] = ["servfail", "timeout"];

/**
 * Checks the domain of the team that has verified this name, within 5 s, because another team has just proved
 * it. It runs a regular check, which its team sees, and checks the proof at every configured resolver
 * separately. Null if no other team has verified the name.
 */
export async function recheckHolder(ctx: Ctx, name: string): Promise<HolderCheck | null> {
  const holder = await findHolder(ctx.db, ctx, name);
  if (!holder) return null;
  const holderCtx: Ctx = { ...ctx, teamId: holder.teamId, actor: { kind: "system" }, requestId: newId() };
  const domain = await findDomain(holderCtx, holder.id);
  const timeout = AbortSignal.timeout(holderMsMax);
  const proof = recordsOf(domain, ctx).filter(({ key }) => PROOF.includes(key));
  const [checks, found] = await Promise.all([
    checkDomainRecords(holderCtx, domain, timeout),
    Promise.all(
      ctx
        .resolvers()
        .map((query) => checkAll((recordName, type) => query(recordName, type, timeout), domain, proof)),
    ),
  ]);
  await recordChecks(holderCtx, holder.id, checks);
  return {
    holderId: holder.id,
    answers: found.map(({ answer }) => answer),
    published: [...new Set(found.flatMap(({ published }) => published))],
  };
}

/** What one resolver returns for all these records: `gone` only if every record is gone. */
async function checkAll(
  query: QueryDns,
  domain: Domain,
  proof: readonly DomainRecord[],
): Promise<{ answer: HolderAnswer; published: string[] }> {
  const results = await Promise.all(
    proof.map(async (record) => ({
      host: record.host,
      ...(await checkRecord(query, domain, record)).finding,
    })),
  );
  const published = results.filter(({ fault }) => fault === null || ![...GONE, ...UNKNOWN].includes(fault));
  if (published.length > 0) return { answer: "published", published: published.map(({ host }) => host) };
  const isGone = results.every(({ fault }) => fault !== null && GONE.includes(fault));
  return { answer: isGone ? "gone" : "unknown", published: [] };
}

import type { Ctx } from "#server/deps";
import { AppError } from "#server/platform/errors";
import { type DomainRecord, presentDomain } from "#server/shared/wire/domain";
import { describeSetup } from "../domains/announce";
import { listDomains } from "../domains/read";
import { createDomain, type NewDomain, parseNewName } from "../domains/write";
import { readDocuments } from "./documents";
import type { ImportSource } from "./providers";
import type { FoundDomain } from "./providers/found";
import type { Provider } from "./providers/provider";
import { type ImportReport, openReport } from "./report";

/** A domain of the source, and what became of it. */
export type DomainOutcome = {
  name: string;
  outcome: "created" | "existing" | "skipped";
  /** Why it was skipped. */
  reason: string | null;
  custom_return_path: string | null;
  tracking_subdomain: string | null;
  open_tracking: boolean;
  click_tracking: boolean;
  tls: "opportunistic" | "enforced";
  /** What the provider has set and Backstamp does not have. */
  not_mapped: string[];
  /** The records to publish. Empty in a dry run: the keys are created with the domain. */
  records: (Pick<DomainRecord, "type" | "host" | "name" | "value" | "priority"> & { required: boolean })[];
};

export type DomainReport = ImportReport & {
  read: number;
  created: number;
  existing: number;
  skipped: number;
  domains: DomainOutcome[];
};

export type DomainImport = { provider: Provider; source: ImportSource; isDryRun: boolean };

const LABEL = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/;

/**
 * Adds a provider's domains to the team, not verified, and returns the DNS records to publish. The labels of
 * the return path and of the tracking host are kept. A domain that the team has is not changed. A dry run
 * writes nothing.
 */
export async function importDomainsFrom(
  ctx: Ctx,
  { provider, source, isDryRun }: DomainImport,
): Promise<DomainReport> {
  const { report, addProblem } = openReport(provider.name, isDryRun);
  const options = { domain: null, what: "domains", addProblem };
  const found = mergeByName(await readDocuments(provider, provider.domains, source, options));
  const taken = new Set((await listDomains(ctx)).map(({ name }) => name));
  const domains: DomainOutcome[] = [];
  for (const each of found) {
    const outcome = await importDomain(ctx, each, taken, isDryRun);
    domains.push(outcome);
    if (outcome.reason !== null) addProblem({ name: outcome.name, reason: outcome.reason });
  }
  const count = (of: DomainOutcome["outcome"]) => domains.filter(({ outcome }) => outcome === of).length;
  return {
    ...report,
    read: domains.length,
    created: count("created"),
    existing: count("existing"),
    skipped: count("skipped"),
    domains,
  };
}

/** One entry for each name. Details complete an entry, before or after it in the source. */
function mergeByName(found: readonly FoundDomain[]): FoundDomain[] {
  const byName = new Map<string, FoundDomain>();
  for (const next of [...found].sort((a, b) => Number(a.isDetail) - Number(b.isDetail))) {
    const name = next.name.toLowerCase();
    const before = byName.get(name);
    if (before === undefined) {
      if (!next.isDetail) byName.set(name, next);
      continue;
    }
    byName.set(name, {
      ...before,
      returnPathHost: before.returnPathHost ?? next.returnPathHost,
      trackingLabel: before.trackingLabel ?? next.trackingLabel,
      openTracking: before.openTracking ?? next.openTracking,
      clickTracking: before.clickTracking ?? next.clickTracking,
      isTlsRequired: before.isTlsRequired ?? next.isTlsRequired,
      notMapped: [...new Set([...before.notMapped, ...next.notMapped])],
    });
  }
  return [...byName.values()];
}

async function importDomain(
  ctx: Ctx,
  found: FoundDomain,
  taken: Set<string>,
  isDryRun: boolean,
): Promise<DomainOutcome> {
  const { input, notMapped } = describeNew(found);
  const shown: Omit<DomainOutcome, "outcome"> = {
    name: found.name,
    reason: null,
    custom_return_path: input.returnPathLabel ?? null,
    tracking_subdomain: input.trackingSubdomain ?? null,
    open_tracking: input.openTracking === true,
    click_tracking: input.clickTracking === true,
    tls: input.tls ?? "opportunistic",
    not_mapped: notMapped,
    records: [],
  };
  if (found.exclusion !== null) return { ...shown, outcome: "skipped", reason: found.exclusion };
  try {
    const name = parseNewName(found.name);
    if (taken.has(name)) return { ...shown, name, outcome: "existing" };
    if (isDryRun) return { ...shown, name, outcome: "created" };
    const domain = await createDomain(ctx, { ...input, name });
    const records = presentDomain(domain, describeSetup(ctx, domain)).records.map(
      ({ type, host, name, value, priority, required }) => ({
        type,
        host,
        name,
        value,
        ...(priority !== undefined && { priority }),
        required,
      }),
    );
    return { ...shown, name, outcome: "created", records };
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    return { ...shown, outcome: "skipped", reason: error.message };
  }
}

/** The settings of the new domain, and what cannot be one of them. */
function describeNew(found: FoundDomain): { input: Omit<NewDomain, "verified">; notMapped: string[] } {
  const { returnPathHost, trackingLabel, openTracking, clickTracking, isTlsRequired } = found;
  const notMapped = [...found.notMapped];
  const input: Omit<NewDomain, "verified"> = { name: found.name };
  const host = returnPathHost?.toLowerCase();
  const end = `.${found.name.toLowerCase()}`;
  const label = host?.endsWith(end) ? host.slice(0, -end.length) : undefined;
  if (label !== undefined && LABEL.test(label)) input.returnPathLabel = label;
  else if (host !== undefined) notMapped.push(`return path ${host}, which is not one label below the domain`);
  const tracking = trackingLabel?.toLowerCase();
  // One name cannot have both the records of the return path and a CNAME.
  if (tracking !== undefined && LABEL.test(tracking) && tracking !== label)
    input.trackingSubdomain = tracking;
  else if (tracking !== undefined) notMapped.push(`tracking subdomain ${tracking}`);
  if (openTracking !== null) input.openTracking = openTracking;
  if (clickTracking !== null) input.clickTracking = clickTracking;
  if (isTlsRequired === true) input.tls = "enforced";
  return { input, notMapped };
}

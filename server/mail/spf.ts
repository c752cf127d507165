import type { AskDns } from "./dns";

/** Look-ups that one evaluation may cost; a receiver that needs more stops with an error (RFC 7208 section 4.6.4). */
export const spfLookupsMax = 10;

export type SpfWalk = {
  /** How many terms ask DNS, those of included records too; `spfLookupsMax + 1` stands for that many or more. */
  lookups: number;
  /** Every term that lets a server pass, in lower case and without `+`, those of included records too. */
  passing: ReadonlySet<string>;
  /** True where an included record could not be read just now, so the count may be too low. */
  isPartial: boolean;
};

const ASKING = new Set(["include", "a", "mx", "ptr", "exists"]);
/** A record may be 64 KB long; no honest one has this many terms. */
const termsMax = 200;

/** Whether a text is an SPF record (RFC 7208 section 4.5). */
export const isSpfRecord = (text: string): boolean => /^v=spf1(\s|$)/i.test(text);

/**
 * Follows a record through what it includes, as a receiver would in the worst case, and counts. Ends once the limit is
 * passed, so a loop of includes ends too. Names with macros cannot be followed without a mail: they count as one.
 */
export async function walkSpf(ask: AskDns, record: string, signal?: AbortSignal): Promise<SpfWalk> {
  const passing = new Set<string>();
  const waiting: { record: string; passes: boolean }[] = [{ record, passes: true }];
  let lookups = 0;
  let isPartial = false;
  for (let next = waiting.shift(); next && lookups <= spfLookupsMax; next = waiting.shift()) {
    const { terms, redirect } = readTerms(next.record);
    const follow: { name: string; passes: boolean }[] = [];
    for (const { qualifier, name, value, text } of terms) {
      const passes = next.passes && qualifier === "+";
      if (passes) passing.add(text);
      if (ASKING.has(name)) lookups++;
      if (name === "include" && value) follow.push({ name: value, passes });
    }
    if (redirect !== null) {
      lookups++;
      follow.push({ name: redirect, passes: next.passes });
    }
    if (lookups > spfLookupsMax) break;
    const answers = await Promise.all(
      follow
        .filter(({ name }) => !name.includes("%"))
        .map(async ({ name, passes }) => ({ answer: await ask(name, "TXT", signal), passes })),
    );
    for (const { answer, passes } of answers) {
      if (answer.kind === "servfail" || answer.kind === "timeout") isPartial = true;
      if (answer.kind !== "answer") continue;
      const included = answer.records.map((strings) => strings.join("")).find(isSpfRecord);
      if (included !== undefined) waiting.push({ record: included, passes });
    }
  }
  return { lookups: Math.min(lookups, spfLookupsMax + 1), passing, isPartial };
}

type Term = { qualifier: string; name: string; value: string; text: string };

/** The mechanisms in order, and where the record hands over: `redirect` counts only where no `all` stands. */
function readTerms(record: string): { terms: Term[]; redirect: string | null } {
  const terms: Term[] = [];
  let redirect: string | null = null;
  for (const word of record.toLowerCase().split(/\s+/).slice(1, termsMax)) {
    const [, qualifier, text = ""] = /^([+\-~?]?)(.*)$/s.exec(word) ?? [];
    const modifier = /^redirect=(.+)$/.exec(text);
    if (modifier?.[1]) redirect ??= modifier[1];
    const [, name = "", value = ""] = /^([a-z][a-z0-9]*)(?::([^/]*))?/.exec(text) ?? [];
    if (!text.includes("=")) terms.push({ qualifier: qualifier || "+", name, value, text });
  }
  return { terms, redirect: terms.some(({ name }) => name === "all") ? null : redirect };
}

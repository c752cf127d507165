import type { QueryDns } from "./dns";

/** Maximum DNS lookups of one evaluation; beyond it a receiver returns an error (RFC 7208 section 4.6.4). */
export const spfLookupsMax = 10;

const LOOKUP_MECHANISMS = new Set(["include", "a", "mx", "ptr", "exists"]);
/** Bounds the work for a record, which may be 64 KB long. Real records have far fewer terms. */
const termsMax = 200;

/** Whether a text is an SPF record (RFC 7208 section 4.5). */
export const isSpfRecord = (text: string): boolean => /^v=spf1(\s|$)/i.test(text);

/**
 * Follows a record and its includes and counts the lookups of a receiver's worst case. Stops at the limit,
 * also in a loop of includes. A name with a macro counts as one lookup and is not followed, because its value
 * depends on the email. `lookups` is the number of terms that need a DNS lookup, including those of included
 * records, at most `spfLookupsMax + 1`. `passing` are the terms with the result "pass", in lower case and
 * without `+`. `isPartial`: the lookup of an included record failed, so the count may be too low.
 */
export async function walkSpf(query: QueryDns, record: string, signal?: AbortSignal) {
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
      if (LOOKUP_MECHANISMS.has(name)) lookups++;
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
        .map(async ({ name, passes }) => ({ answer: await query(name, "TXT", signal), passes })),
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

/** Parses the mechanisms in order and the `redirect` modifier, which is ignored in a record with `all`. */
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

/** The parts of a DMARC policy that are relevant for alignment (RFC 7489 section 6.3). */
export type DmarcPolicy = {
  policy: "none" | "quarantine" | "reject";
  /** Whether the return path must use exactly the sender's domain; a subdomain is then not aligned. */
  isSpfStrict: boolean;
};

/**
 * The result of reading a DMARC name: no record, one policy, several (receivers then ignore all) or an
 * invalid one.
 */
export type DmarcReading =
  | { kind: "none" }
  | { kind: "policy"; policy: DmarcPolicy }
  | { kind: "several" }
  | { kind: "invalid" };

const POLICIES = ["none", "quarantine", "reject"] as const;

/** Whether a text is a DMARC record: the version is the first tag, and is in upper case (RFC 7489 6.4). */
export const isDmarcRecord = (text: string): boolean => /^[vV]\s*=\s*DMARC1\s*(?:;|$)/.test(text);

/** Text that was probably meant as a DMARC record, up to its first tag. */
const MEANT = /^["'\u0080-\uffff\s]*(?:v\s*=\s*)?dmarc[0-9]*[\s;,:"'\u0080-\uffff]*/i;
export const isMeantAsDmarc = (text: string): boolean => MEANT.test(text);

/**
 * Reads the TXT records at `_dmarc.<domain>`. `isInherited`: the records are those of the registered domain,
 * so `sp=` takes precedence over `p=`.
 */
export function parseDmarc(texts: readonly string[], isInherited: boolean): DmarcReading {
  const records = texts.filter(isDmarcRecord);
  const [text] = records;
  if (text === undefined) return { kind: "none" };
  if (records.length > 1) return { kind: "several" };
  const tags = new Map(tagsOf(text).map(({ name, value }) => [name, value.toLowerCase()]));
  const value = (isInherited ? tags.get("sp") : undefined) ?? tags.get("p");
  const policy = POLICIES.find((known) => known === value);
  return policy
    ? { kind: "policy", policy: { policy, isSpfStrict: tags.get("aspf") === "s" } }
    : { kind: "invalid" };
}

/** The tags in their order. A part that is not a tag has an empty name. */
function tagsOf(text: string): { name: string; value: string; part: string }[] {
  return text.split(";").flatMap((part) => {
    const at = part.indexOf("=");
    const name = part.slice(0, Math.max(at, 0)).trim().toLowerCase();
    return part.trim() === "" ? [] : [{ name, value: part.slice(at + 1).trim(), part: part.trim() }];
  });
}

/** A tag: whether a value in lower case is valid, the valid values in words, and how to correct one. */
type Tag = { isValid(value: string): boolean; allowed: string; fix(value: string): string };
const oneOf = (pattern: RegExp, allowed: string): Tag => ({
  isValid: (value) => pattern.test(value),
  allowed,
  fix: () => "",
});
const POLICY = oneOf(/^(?:none|quarantine|reject)$/, POLICIES.join(", "));
const ALIGNMENT = oneOf(/^[rs]$/, "r, s");
const REPORTS: Tag = {
  isValid: (value) => value.split(",").every((uri) => readReportUri(uri) !== null),
  allowed: "addresses as in `mailto:reports@example.com`, with a comma between them",
  fix: (value) =>
    value
      .split(",")
      .map((uri) => uri.trim().replace(/^(?:mailto:)?(?:\/\/)?/, "mailto:"))
      .filter((uri) => readReportUri(uri) !== null)
      .join(","),
};

/** RFC 7489 section 6.3; `np` is of RFC 9091. */
const TAGS: Record<string, Tag> = {
  p: { ...POLICY, fix: (value) => POLICIES.find((known) => value.startsWith(known)) ?? "none" },
  sp: POLICY,
  np: POLICY,
  adkim: ALIGNMENT,
  aspf: ALIGNMENT,
  pct: oneOf(/^(?:[0-9]{1,2}|100)$/, "0 to 100"),
  fo: oneOf(/^[01ds](?:\s*:\s*[01ds])*$/, "0, 1, d, s, with a colon between them"),
  rf: oneOf(/^afrf$/, "afrf"),
  ri: oneOf(/^[0-9]{1,10}$/, "a number of seconds"),
  psd: oneOf(/^[ynu]$/, "y, n, u"),
  t: oneOf(/^[yn]$/, "y, n"),
  rua: REPORTS,
  ruf: REPORTS,
};

/** The domain of a URI for reports, which may end with a size limit as in `!10m`; null if it is invalid. */
function readReportUri(uri: string): string | null {
  const [, domain = ""] =
    /^mailto:[^@!,;\s/][^@!,;\s]*@([a-z0-9.-]+)(?:![0-9]{1,18}[kmgt]?)?$/i.exec(uri.trim()) ?? [];
  const isName = domain.includes(".") && domain.split(".").every((label) => /^[a-z0-9-]{1,63}$/i.test(label));
  return isName ? domain.toLowerCase() : null;
}

/** The domains that a record sends reports to. */
export const reportDomainsOf = (text: string): string[] =>
  tagsOf(text)
    .filter(({ name }) => name === "rua" || name === "ruf")
    .flatMap(({ value }) => value.split(",").flatMap((uri) => readReportUri(uri) ?? []));

/**
 * The faults of a DMARC record, or of a text meant as one: each a sentence. `policy`: faults for which
 * receivers may ignore the record. `reports`: faults for which they send no reports. `corrected` has none.
 */
export function reviewDmarc(text: string): { policy: string[]; reports: string[]; corrected: string } {
  const policy: string[] = [];
  const reports: string[] = [];
  const kept = new Map<string, string>();
  if (!isDmarcRecord(text)) policy.push("It does not begin with exactly `v=DMARC1;`.");
  const tags = tagsOf(text.replace(MEANT, ""));
  const at = tags.findIndex(({ name }) => name === "p");
  if (at === -1) policy.push("It has no policy: the tag `p` is missing.");
  if (at > 0) policy.push("The policy `p` must be the second tag.");
  for (const { name, value, part } of tags) {
    const tag = Object.hasOwn(TAGS, name) ? TAGS[name] : undefined;
    if (!tag) policy.push(`\`${part}\` is not a tag of DMARC.`);
    else if (kept.has(name)) policy.push(`The tag \`${name}\` is there more than once.`);
    else {
      const isReports = name === "rua" || name === "ruf";
      const isValid = tag.isValid(value.toLowerCase());
      if (!isValid) (isReports ? reports : policy).push(`\`${part}\` is invalid. Allowed: ${tag.allowed}.`);
      kept.set(name, isValid ? value : tag.fix(value.toLowerCase()));
    }
  }
  const others = [...kept].filter(([name, value]) => name !== "p" && value !== "");
  const corrected = [["v", "DMARC1"], ["p", kept.get("p") ?? "none"], ...others];
  return { policy, reports, corrected: corrected.map(([name, value]) => `${name}=${value};`).join(" ") };
}

/** The record, without its faults, with this policy, and with aggregate reports to this address too. */
export function changeDmarc(record: string, policy: DmarcPolicy["policy"], address: string | null): string {
  const tags = new Map(tagsOf(reviewDmarc(record).corrected).map(({ name, value }) => [name, value]));
  tags.set("p", policy);
  const reports = tags.get("rua");
  const local = address?.split("@", 1)[0];
  if (address !== null && !(local && reports?.toLowerCase().includes(local)))
    tags.set("rua", `${reports ? `${reports},` : ""}mailto:${address}`);
  return [...tags].map(([name, value]) => `${name}=${value};`).join(" ");
}

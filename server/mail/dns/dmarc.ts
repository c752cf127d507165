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

/**
 * Reads the TXT records at `_dmarc.<domain>`. `isInherited`: the records are those of the registered domain,
 * so `sp=` takes precedence over `p=`.
 */
export function parseDmarc(texts: readonly string[], isInherited: boolean): DmarcReading {
  const records = texts.filter((text) => /^\s*v\s*=\s*DMARC1\s*(;|$)/.test(text));
  const [text] = records;
  if (text === undefined) return { kind: "none" };
  if (records.length > 1) return { kind: "several" };
  const tags = new Map(
    text.split(";").map((part): [string, string] => {
      const [name = "", ...value] = part.split("=");
      return [name.trim().toLowerCase(), value.join("=").trim().toLowerCase()];
    }),
  );
  const value = (isInherited ? tags.get("sp") : undefined) ?? tags.get("p");
  const policy = POLICIES.find((known) => known === value);
  return policy
    ? { kind: "policy", policy: { policy, isSpfStrict: tags.get("aspf") === "s" } }
    : { kind: "invalid" };
}

/** A DMARC policy as far as alignment hangs on it (RFC 7489 section 6.3). */
export type DmarcPolicy = {
  policy: "none" | "quarantine" | "reject";
  /** True where the return path must be at the very name of the sender's domain, not below it. */
  isSpfStrict: boolean;
};

/** What stands at a DMARC name: nothing, one policy, several (then none counts), or a text that is no policy. */
export type DmarcReading =
  | { kind: "none" }
  | { kind: "policy"; policy: DmarcPolicy }
  | { kind: "several" }
  | { kind: "invalid" };

const POLICIES = ["none", "quarantine", "reject"] as const;

/** Reads the TXT records at `_dmarc.<domain>`. `isInherited`: found at the registered domain, so its `sp=` counts first. */
export function readDmarc(texts: readonly string[], isInherited: boolean): DmarcReading {
  const meant = texts.filter((text) => /^\s*v\s*=\s*DMARC1\s*(;|$)/.test(text));
  const [text] = meant;
  if (text === undefined) return { kind: "none" };
  if (meant.length > 1) return { kind: "several" };
  const tags = new Map(
    text.split(";").map((part): [string, string] => {
      const [name = "", ...value] = part.split("=");
      return [name.trim().toLowerCase(), value.join("=").trim().toLowerCase()];
    }),
  );
  const wanted = (isInherited ? tags.get("sp") : undefined) ?? tags.get("p");
  const policy = POLICIES.find((each) => each === wanted);
  return policy
    ? { kind: "policy", policy: { policy, isSpfStrict: tags.get("aspf") === "s" } }
    : { kind: "invalid" };
}

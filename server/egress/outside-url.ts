import { isIP } from "node:net";

/** Where a request would go. */
export type OutsideTarget = {
  url: URL;
  /** The host where it is an address and no name. */
  literal: string | null;
  /** Whether public addresses will do, or only those that the operator opened. */
  needs: "public" | "allowed";
  /** Why only opened ones will do, for whoever gave the URL. */
  reason: string | null;
};

const lengthMax = 2_048;
const PORTS: ReadonlySet<string> = new Set(["", "443", "8443"]);

/** Ends of names that mean something only inside a network (RFC 6761, 6762, 8375, and common use). */
const INTERNAL_ENDS = [
  "localhost",
  "local",
  "internal",
  "intranet",
  "localdomain",
  "lan",
  "corp",
  "home.arpa",
  "private",
] as const;

/**
 * Reads a URL that somebody else gave. What could never be called is a fault, in a sentence. Plain http, other ports and
 * internal names are no fault yet: they are fine towards addresses that the operator opened.
 */
export function readOutsideUrl(text: string): { target: OutsideTarget } | { fault: string } {
  if (text.length > lengthMax) return { fault: `A URL has at most ${lengthMax} characters.` };
  if (/[\0-\x20\x7f]/.test(text)) return { fault: "A URL contains no spaces or control characters." };
  if (!URL.canParse(text)) return { fault: "Give a whole URL, such as https://example.com/hooks." };
  const url = new URL(text);
  const isHttps = url.protocol === "https:";
  if (!isHttps && url.protocol !== "http:") return { fault: "The URL must begin with https://." };
  if (url.username !== "" || url.password !== "")
    return { fault: "The URL must not contain a user name or password." };
  if (url.port === "0") return { fault: "The URL names port 0, where nothing can listen." };
  const host = url.hostname.replace(/^\[(.*)\]$/, "$1");
  const literal = isIP(host) === 0 ? null : host;
  const reason = !isHttps
    ? "The URL must begin with https://."
    : !PORTS.has(url.port)
      ? "The URL may name port 443 or 8443, no other."
      : literal === null && isInternalName(host)
        ? `${host} is a name of an internal network.`
        : null;
  return { target: { url, literal, needs: reason === null ? "public" : "allowed", reason } };
}

/** Single labels, names with the dot of the root at the end, and those below the ends that networks use inside. */
function isInternalName(host: string): boolean {
  if (!host.includes(".") || host.endsWith(".")) return true;
  return INTERNAL_ENDS.some((end) => host.endsWith(`.${end}`));
}

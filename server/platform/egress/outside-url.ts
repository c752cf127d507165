import { isIP } from "node:net";
import { parseUrl } from "./parse-url";

/** The target of a request. */
export type OutsideTarget = {
  url: URL;
  /** The host if it is an IP address, else null. */
  literal: string | null;
  /** Whether the target must have a public address or one that the operator allowed. */
  needs: "public" | "allowed";
  /** Why only an allowed address is accepted, as a message for the owner of the URL. */
  reason: string | null;
  /** The host is a name of an internal network. */
  isInternal: boolean;
};

const lengthMax = 2_048;
const PORTS: ReadonlySet<string> = new Set(["", "443", "8443"]);

/** Suffixes of names in internal networks (RFC 6761, 6762, 8375, and common use). */
const INTERNAL_END = /\.(localhost|local|internal|intranet|localdomain|lan|corp|home\.arpa|private)$/;

/**
 * Parses a URL from an untrusted source. A URL that can never be called is a fault with a message. Plain
 * http, other ports and internal names are not faults, because they are valid for addresses that the operator
 * allowed.
 */
export function parseOutsideUrl(text: string): { target: OutsideTarget } | { fault: string } {
  if (text.length > lengthMax) return { fault: `The URL is longer than ${lengthMax} characters.` };
  if (/[\0-\x20\x7f]/.test(text)) return { fault: "The URL must not contain spaces or control characters." };
  const url = parseUrl(text);
  if (url === null) return { fault: "Enter a full URL that begins with https://." };
  const isHttps = url.protocol === "https:";
  if (!isHttps && url.protocol !== "http:") return { fault: "The URL must begin with https://." };
  if (url.username !== "" || url.password !== "")
    return { fault: "The URL must not contain a user name or password." };
  if (url.port === "0") return { fault: "The URL must not use port 0." };
  const host = url.hostname.replace(/^\[(.*)\]$/, "$1");
  const literal = isIP(host) === 0 ? null : host;
  const isInternal = literal === null && isInternalName(host);
  const reason = !isHttps
    ? "The URL must begin with https://."
    : !PORTS.has(url.port)
      ? "The URL must use port 443 or 8443."
      : isInternal
        ? `${host} is the name of an internal host.`
        : null;
  return { target: { url, literal, needs: reason === null ? "public" : "allowed", reason, isInternal } };
}

/** Single labels, names with a trailing dot, and names with an internal suffix. */
function isInternalName(host: string): boolean {
  return !host.includes(".") || host.endsWith(".") || INTERNAL_END.test(host);
}

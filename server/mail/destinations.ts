import { getRegisteredDomain } from "./address/registered-domain";
import { getReplyClass, type Outcome } from "./outcome";

/** A large provider: the domains of its MX hosts, and how many connections a new sender starts with. */
type Profile = { hosts: readonly string[]; startConnections?: number };

/**
 * The providers that receive email under several registered domains, or whose services under one of them are
 * separate. All others are named by the registered domain of their MX hosts. Keys are the names of
 * destinations.
 */
const PROFILES: Readonly<Record<string, Profile>> = {
  "google.com": { hosts: ["google.com", "googlemail.com"], startConnections: 4 },
  // Mailboxes of consumers (outlook.com, hotmail.com) and of organizations have separate limits.
  "olc.protection.outlook.com": { hosts: ["olc.protection.outlook.com"] },
  "protection.outlook.com": { hosts: ["protection.outlook.com", "mx.microsoft"], startConnections: 4 },
  "yahoodns.net": { hosts: ["yahoodns.net", "yahoo.com", "aol.com"] },
  "icloud.com": { hosts: ["icloud.com", "apple.com"] },
  "gmx.net": { hosts: ["gmx.net", "web.de", "mail.com"] },
  "ionos.com": { hosts: ["ionos.com", "ionos.de", "ionos.co.uk", "kundenserver.de", "1and1.com"] },
  "orange.fr": { hosts: ["orange.fr", "wanadoo.fr"] },
  "protonmail.ch": { hosts: ["protonmail.ch", "proton.me"] },
  "zoho.com": { hosts: ["zoho.com", "zoho.eu", "zoho.in"] },
  "mimecast.com": { hosts: ["mimecast.com", "mimecast.co.za"] },
  "pphosted.com": { hosts: ["pphosted.com", "gpphosted.com", "ppe-hosted.com"] },
  "netease.com": { hosts: ["netease.com", "163.com", "126.com"] },
};

/** Connections that a new sender starts with where no profile says otherwise. */
const usualStart = 2;

const BY_HOST: ReadonlyMap<string, string> = new Map(
  Object.entries(PROFILES).flatMap(([name, { hosts }]) => hosts.map((host) => [host, name] as const)),
);

/** Concurrent connections that a destination without history gets over all workers. */
export const startConnectionsOf = (destination: string): number =>
  PROFILES[destination]?.startConnections ?? usualStart;

/**
 * The destination of a domain whose first MX host is `host`: the operator's (`own`, by domains of MX hosts),
 * that of a profile, or the registered domain of the host. The longest name counts. A name in lower case.
 */
export function nameDestination(host: string, own: ReadonlyMap<string, string>): string {
  // A name has at most 127 labels.
  for (let rest = host; ; rest = rest.slice(rest.indexOf(".") + 1)) {
    const name = own.get(rest) ?? BY_HOST.get(rest);
    if (name !== undefined) return name;
    if (!rest.includes(".")) return getRegisteredDomain(host);
  }
}

/** Codes by which Microsoft limits an address (4.7.650 to 4.7.652) or all senders (4.7.500). */
const LIMIT_CODES: ReadonlySet<string> = new Set(["4.7.28", "4.7.500", "4.7.650", "4.7.651", "4.7.652"]);

/** Texts about a mailbox that receives too much, and about the recipients of one transaction. */
const OF_MAILBOX = /receiving e?mail at a rate|too many recipients/;

/**
 * Whether the reply asks to send less to all recipients of the destination: a rate limit, a limit of
 * connections, or 421, which closes the channel (RFC 5321 section 4.2.1). Not if it concerns one mailbox
 * (RFC 3463 subject 2, and texts about it), the recipients of one transaction (4.5.3) or an idle connection.
 */
export function isObjection(outcome: Outcome): boolean {
  const { kind, reply } = outcome;
  if (kind === "accepted" || kind === "unknown" || !reply?.code || isIdleTimeout(outcome)) return false;
  const { code, enhanced, text } = reply;
  const [, subject, detail] = enhanced?.split(".") ?? [];
  const words = text.toLowerCase();
  if (subject === "2" || (subject === "5" && detail === "3") || OF_MAILBOX.test(words)) return false;
  const replyClass = outcome.class ?? getReplyClass(reply);
  if (replyClass === "greylist" || replyClass === "quota") return false;
  if (code === 421 || replyClass === "rate" || LIMIT_CODES.has(enhanced ?? "")) return true;
  // Yahoo: "Message temporarily deferred - [160]", and codes such as [TSS04].
  return words.includes("[tss") || (code < 500 && words.includes("deferred - ["));
}

/** The time-out of an idle connection (4.4.2), which concerns no message. */
export const isIdleTimeout = ({ reply }: Outcome): boolean =>
  reply?.code === 421 && (reply.enhanced?.endsWith(".4.2") || /idle|time.?out|timed out/i.test(reply.text));

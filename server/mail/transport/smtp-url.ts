import { isIP } from "node:net";
import { domainToASCII } from "node:url";

/**
 * How the session is encrypted. implicit: TLS from the first byte (RFC 8314). required: STARTTLS (RFC 3207) or nothing.
 * opportunistic: STARTTLS where it works, else in clear.
 */
export type TlsMode = "implicit" | "required" | "opportunistic";

/** A relay as its URL names it. `verify` says whether its certificate must be valid for `host`. */
export type SmtpTarget = {
  host: string;
  port: number;
  tls: TlsMode;
  verify: boolean;
  login: { user: string; pass: string } | null;
  connectionsMax: number;
};

export type ParsedSmtpUrl = { ok: true; target: SmtpTarget } | { ok: false; fault: string };

const FORM = "Use smtp://user:password@host:port or smtps://user:password@host:port.";
const OPTIONS = new Set(["pool", "tls"]);
const TLS_OPTIONS = new Set(["required", "insecure"]);
const CONNECTIONS_DEFAULT = 10;
const CONNECTIONS_MAX = 100;

/**
 * Reads `smtp://` (port 587 as RFC 6409 has it, STARTTLS) and `smtps://` (port 465). Options: `pool`, the most connections at once, and
 * `tls`: `required` demands a valid certificate, `insecure` demands TLS with any certificate. With credentials TLS
 * is required and the certificate verified, except to this very machine, where clear text reaches nobody else.
 * A fault says what would work and never repeats the URL, which holds a password.
 */
export function parseSmtpUrl(text: string): ParsedSmtpUrl {
  if (!/^smtps?:\/\//i.test(text)) return refuse(`It must begin with smtp:// or smtps://. ${FORM}`);
  let url: URL;
  try {
    url = new URL(text);
  } catch {
    return refuse(`It is no URL. ${FORM} Percent-encode special characters in the password.`);
  }
  if (url.hostname === "") return refuse(`The host is missing. ${FORM}`);
  const host = readHost(url.hostname);
  if (host === "") return refuse(`The host is no valid name. ${FORM}`);
  if ((url.pathname !== "" && url.pathname !== "/") || url.hash !== "")
    return refuse(
      `Nothing but options may follow the host. ${FORM} Percent-encode special characters in the password.`,
    );

  const login = readLogin(url);
  if (!login.ok) return login;
  const options = readOptions(url.searchParams);
  if (!options.ok) return options;

  const isImplicit = url.protocol.toLowerCase() === "smtps:";
  const needsTls = isImplicit || options.tls !== null || (login.value !== null && !isLoopback(host));
  const target: SmtpTarget = {
    host,
    port: url.port === "" ? (isImplicit ? 465 : 587) : Number(url.port),
    tls: isImplicit ? "implicit" : needsTls ? "required" : "opportunistic",
    verify: needsTls && options.tls !== "insecure",
    login: login.value,
    connectionsMax: options.pool,
  };
  return { ok: true, target };
}

/** Other schemes than http keep the host as it was typed; this gives it the one form that is compared and connected to. */
function readHost(hostname: string): string {
  if (hostname.startsWith("[")) return hostname.slice(1, -1);
  try {
    return domainToASCII(decodeURIComponent(hostname));
  } catch {
    return "";
  }
}

type Read<T> = ({ ok: true } & T) | { ok: false; fault: string };

function readLogin(url: URL): Read<{ value: SmtpTarget["login"] }> {
  if (url.username === "" && url.password === "") return { ok: true, value: null };
  if (url.username === "" || url.password === "")
    return refuse(`Give both a user and a password, or neither. ${FORM}`);
  try {
    return {
      ok: true,
      value: { user: decodeURIComponent(url.username), pass: decodeURIComponent(url.password) },
    };
  } catch {
    return refuse("The user or the password is not percent-encoded correctly. Write a percent sign as %25.");
  }
}

function readOptions(params: URLSearchParams): Read<{ pool: number; tls: string | null }> {
  for (const name of params.keys())
    if (!OPTIONS.has(name))
      return refuse(`The option ${JSON.stringify(name.slice(0, 40))} is unknown. Known are pool and tls.`);
  const tls = params.get("tls");
  if (tls !== null && !TLS_OPTIONS.has(tls)) return refuse("The option tls is either required or insecure.");
  const pool = params.get("pool") ?? String(CONNECTIONS_DEFAULT);
  if (!/^[0-9]{1,3}$/.test(pool) || Number(pool) < 1 || Number(pool) > CONNECTIONS_MAX)
    return refuse(`The option pool is a number of connections from 1 to ${CONNECTIONS_MAX}.`);
  return { ok: true, tls, pool: Number(pool) };
}

function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || (isIP(host) === 4 && host.startsWith("127."));
}

function refuse(fault: string): { ok: false; fault: string } {
  return { ok: false, fault };
}

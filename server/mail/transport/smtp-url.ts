import { isIP } from "node:net";
import { parseUrl } from "#server/platform/egress/parse-url";
import { toAsciiDomain } from "../address/idna";

/**
 * How a session is encrypted. implicit: TLS from the first byte (RFC 8314). required: STARTTLS (RFC 3207)
 * must succeed. opportunistic: STARTTLS if it works, else no encryption.
 */
export type TlsMode = "implicit" | "required" | "opportunistic";

/** The parsed URL of a relay. With `verify` the certificate must be valid for `host`. */
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
const HOST_NAME = /^[a-z0-9._-]+$/;
/** A host that the URL standard reads as an IPv4 address. */
const NUMERIC_HOST = /(^|\.)(\d+|0x[\da-f]*)\.?$/;
const CONNECTIONS_DEFAULT = 10;
export const CONNECTIONS_MAX = 100;

/**
 * Parses `smtp://` (port 587 as in RFC 6409, STARTTLS) and `smtps://` (port 465). Options: `pool` is the
 * maximum number of connections. `tls=required` requires a valid certificate; `tls=insecure` requires TLS but
 * accepts any certificate. With credentials TLS and a valid certificate are required, except on loopback,
 * where the traffic does not leave this machine. A fault explains the correct form and never contains the
 * URL, which may include a password.
 */
export function parseSmtpUrl(text: string): ParsedSmtpUrl {
  try {
    return { ok: true, target: readTarget(text) };
  } catch (error) {
    if (!(error instanceof UrlFault)) throw error;
    return { ok: false, fault: error.message };
  }
}

class UrlFault extends Error {}

function readTarget(text: string): SmtpTarget {
  if (!/^smtps?:\/\//i.test(text)) throw new UrlFault(`It must begin with smtp:// or smtps://. ${FORM}`);
  const url = parseUrl(text);
  if (url === null)
    throw new UrlFault(`It is not a valid URL. ${FORM} Percent-encode special characters in the password.`);
  if (url.hostname === "") throw new UrlFault(`The host is missing. ${FORM}`);
  const host = readHost(url.hostname);
  if (host === "") throw new UrlFault(`The host name is invalid. ${FORM}`);
  if ((url.pathname !== "" && url.pathname !== "/") || url.hash !== "")
    throw new UrlFault(
      `Only options may follow the host. ${FORM} Percent-encode special characters in the password.`,
    );
  const login = readLogin(url);
  const { pool, tls } = readOptions(url.searchParams);
  const isImplicit = url.protocol.toLowerCase() === "smtps:";
  const needsTls = isImplicit || tls !== null || (login !== null && !isLoopback(host));
  return {
    host,
    port: url.port === "" ? (isImplicit ? 465 : 587) : Number(url.port),
    tls: isImplicit ? "implicit" : needsTls ? "required" : "opportunistic",
    verify: needsTls && tls !== "insecure",
    login,
    connectionsMax: pool,
  };
}

/** The URL of a target, which `parseSmtpUrl` reads as the same target. */
export function formatSmtpUrl({ host, port, tls, verify, login, connectionsMax }: SmtpTarget): string {
  const userinfo = login ? `${encodeURIComponent(login.user)}:${encodeURIComponent(login.pass)}@` : "";
  const needsTls = tls !== "opportunistic";
  const options = new URLSearchParams({
    ...(needsTls && (tls === "required" || !verify) && { tls: verify ? "required" : "insecure" }),
    ...(connectionsMax !== CONNECTIONS_DEFAULT && { pool: String(connectionsMax) }),
  });
  const scheme = tls === "implicit" ? "smtps" : "smtp";
  const query = options.size > 0 ? `?${options}` : "";
  return `${scheme}://${userinfo}${formatHostAndPort({ host, port })}${query}`;
}

/** Normalizes a host that a person entered: a name or an IP address. Null if it is neither. */
export function parseSmtpHost(text: string): string | null {
  const bare = text.replace(/^\[(.*)\]$/, "$1");
  if (isIP(bare) !== 0) return bare.toLowerCase();
  return readHost(text) || null;
}

/**
 * Normalizes the host name for comparison and connection: `URL` does this for http only. Empty if it is
 * invalid.
 */
function readHost(hostname: string): string {
  if (hostname.startsWith("[")) return hostname.slice(1, -1);
  const host = toAsciiDomain(decodeHost(hostname));
  if (host === null || !HOST_NAME.test(host)) return "";
  return NUMERIC_HOST.test(host) ? (parseUrl(`http://${host}`)?.hostname ?? "") : host;
}

/** Decodes a percent-encoded host. Empty if it is not valid UTF-8. */
function decodeHost(hostname: string): string {
  try {
    return decodeURIComponent(hostname);
  } catch {
    return "";
  }
}

function readLogin({ username, password }: URL): SmtpTarget["login"] {
  if (username === "" && password === "") return null;
  if (username === "" || password === "")
    throw new UrlFault(`Enter both a user name and a password, or neither. ${FORM}`);
  try {
    return { user: decodeURIComponent(username), pass: decodeURIComponent(password) };
  } catch {
    throw new UrlFault(
      "The user name or password is not percent-encoded correctly. Write a percent sign as %25.",
    );
  }
}

function readOptions(params: URLSearchParams): { pool: number; tls: string | null } {
  for (const name of params.keys())
    if (!OPTIONS.has(name))
      throw new UrlFault(`The option ${JSON.stringify(name.slice(0, 40))} is unknown. Use pool or tls.`);
  const tls = params.get("tls");
  if (tls !== null && !TLS_OPTIONS.has(tls))
    throw new UrlFault("The option tls must be required or insecure.");
  const pool = params.get("pool") ?? String(CONNECTIONS_DEFAULT);
  if (!/^[0-9]{1,3}$/.test(pool) || Number(pool) < 1 || Number(pool) > CONNECTIONS_MAX)
    throw new UrlFault(`The option pool must be a number of connections from 1 to ${CONNECTIONS_MAX}.`);
  return { tls, pool: Number(pool) };
}

/** `host:port`, the only part of a relay's URL that is ever shown. */
export const formatHostAndPort = ({ host, port }: Pick<SmtpTarget, "host" | "port">): string =>
  `${host.includes(":") ? `[${host}]` : host}:${port}`;

function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || (isIP(host) === 4 && host.startsWith("127."));
}

import { isIP } from "node:net";
import { z } from "zod";
import { parseDomainName, parseMailbox } from "#server/mail/address/address";
import { parseSmtpUrl } from "#server/mail/transport/smtp-url";
import { parseJson } from "#server/shared/text/parse-json";
import { parseUrl } from "../egress/parse-url";

/* Schemas of the settings' values. Each message says what to enter. */

/** Text that `read` can parse. `read` returns null for invalid text; `wanted` is then the message. */
function text<T>(wanted: string, read: (value: string) => T | null) {
  return z.string().transform((value, context): T => {
    const result = read(value.trim());
    if (result !== null) return result;
    context.addIssue({ code: "custom", message: wanted });
    return z.NEVER;
  });
}

const list = (value: string): string[] => value.split(/[\s,]+/).filter((item) => item !== "");

/** A list separated by commas or spaces. If `read` rejects one entry, the whole list is invalid. */
function listOf<T>(wanted: string, read: (item: string) => T | null) {
  return text(wanted, (value) => {
    const items: T[] = [];
    for (const item of list(value)) {
      const result = read(item);
      if (result === null) return null;
      items.push(result);
    }
    return items.length > 0 ? items : null;
  });
}

/** A whole number from `min` to `max`. */
export const wholeNumber = (min: number, max: number, example: number) =>
  text(`Enter a whole number from ${min} to ${max}, for example ${example}.`, (value) => {
    const number = /^\d{1,9}$/.test(value) ? Number(value) : Number.NaN;
    return number >= min && number <= max ? number : null;
  });

/** A percentage, with decimals. The parsed value is the share: 0.05 for `5`. */
export const share = (example: number) =>
  text(`Enter a percentage above 0 and below 100, for example ${example}.`, (value) => {
    const percent = /^\d{1,2}(\.\d{1,4})?%?$/.test(value) ? Number.parseFloat(value) : Number.NaN;
    return percent > 0 ? percent / 100 : null;
  });

const isPort = (number: number): boolean => number >= 1 && number <= 65_535;

/** A TCP port. */
export const port = (example: number) => wholeNumber(1, 65_535, example);

/** A TCP port, with or without the address to listen on. */
export const listenPort = (example: number) =>
  text(
    `Enter a port from 1 to 65535, with or without an address of this machine: ${example}, 127.0.0.1:${example}, [::1]:${example}.`,
    (value) => {
      const [, v6, name, digits] = /^(?:(?:\[([^\]]+)\]|([^:]+)):)?(\d{1,5})$/.exec(value) ?? [];
      const isHost = v6 === undefined ? isListenHost(name ?? "localhost") : isIP(v6) === 6;
      const port = Number(digits);
      return isHost && isPort(port) ? { host: v6 ?? name ?? null, port } : null;
    },
  );

/** On or off. */
export const flag = text("Enter 1 or 0.", (value) => {
  if (/^(1|true|on|yes)$/i.test(value)) return true;
  return /^(0|false|off|no)$/i.test(value) ? false : null;
});

const isListenHost = (value: string): boolean =>
  isIP(value) !== 0 || /^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/i.test(value);

/** A host name or address to listen on. */
export const listenHost = text(
  "Enter an address or a host name of this machine, for example 127.0.0.1, or 0.0.0.0 for all addresses.",
  (value) => (isListenHost(value) ? value : null),
);

/** A fully qualified host name, in lower case. */
export const hostName = (example: string) =>
  text(`Enter a full host name without scheme, port or path, for example ${example}.`, (value) => {
    const read = parseDomainName(value);
    return read.ok ? read.domain : null;
  });

/** A path in the file system. */
export const folder = text("Enter the path of a directory.", (value) =>
  value !== "" && !value.includes("\0") ? value : null,
);

/** The files with a certificate chain and its private key, which can be the same. */
export const certificateFiles = text(
  "Enter the paths of two files, separated by a comma, or of one file.",
  (value) => {
    const [cert = "", key = cert, ...more] = value.split(",").map((item) => item.trim());
    const isValid = cert !== "" && key !== "" && more.length === 0 && !value.includes("\0");
    return isValid ? { cert, key } : null;
  },
);

/** Scheme, host and port of a web site, without a trailing slash. */
export const origin = text(
  "Enter scheme, host and any non-default port, without a path: https://mail.example.com",
  (value) => {
    const url = parseUrl(value);
    if (!url || !["http:", "https:"].includes(url.protocol) || url.hostname === "") return null;
    const isBare = url.pathname === "/" && !url.search && !url.hash && !url.username && !url.password;
    return isBare ? url.origin : null;
  },
);

/** The issuer of an OpenID provider, exactly as its tokens contain it: HTTPS, or HTTP on this machine. */
export const issuer = text(
  "Enter the issuer URL of the identity provider, without /.well-known/openid-configuration: https://id.example.com/realms/main. It must begin with https://, except on this machine.",
  (value) => {
    const url = parseUrl(value);
    if (!url || url.search || url.hash || url.username || url.password) return null;
    if (url.pathname.includes("/.well-known/")) return null;
    const isLocal = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/.test(url.hostname);
    return url.protocol === "https:" || (url.protocol === "http:" && isLocal) ? value : null;
  },
);

/** A URL with one of these schemes and exactly one host. */
export const address = (wanted: string, ...schemes: string[]) =>
  z.string().transform((given, context): string => {
    const value = given.trim();
    const url = parseUrl(value);
    const isCut = endsEarly(value, url);
    if (url && !isCut && schemes.includes(url.protocol) && /^[^,]+$/.test(url.hostname)) return value;
    context.addIssue({ code: "custom", message: isCut ? NOT_ENCODED : wanted });
    return z.NEVER;
  });

const NOT_ENCODED =
  "The user or the password contains a character that ends this part of a URL. Percent-encode it: # is %23, / is %2F, ? is %3F.";

/** Whether a `/`, `?` or `#` in the user or password ends the host too early. */
const endsEarly = (value: string, url: URL | null): boolean =>
  url === null
    ? /[/?#]/.test(/^[a-z]+:\/\/([^@]*)@/i.exec(value)?.[1] ?? "")
    : url.username === "" && url.password === "" && `${url.pathname}${url.hash}`.includes("@");

/** The absolute path of a folder. */
export const absoluteFolder = text("Enter the absolute path of a folder.", (value) =>
  value.startsWith("/") ? value : null,
);

/** A secret of at least `charsMin` characters. */
export const secret = (charsMin: number, hint: string) =>
  z.string().min(charsMin, `It has fewer than ${charsMin} characters. ${hint}`);

/** How many former secrets can be configured. */
export const formerSecretsMax = 10;

/**
 * Several secrets of at least `charsMin` characters, separated by commas or spaces. A secret that contains
 * these is written in a JSON list.
 */
export const secrets = (charsMin: number) =>
  text(
    `Enter up to ${formerSecretsMax} secrets of at least ${charsMin} characters, separated by commas, or as a JSON list of texts.`,
    (value) => {
      const items = value.startsWith("[")
        ? z.array(z.string()).safeParse(parseJson(value)).data
        : list(value);
      const isValid = items !== undefined && items.length > 0 && items.length <= formerSecretsMax;
      return isValid && items.every((item) => item.length >= charsMin) ? items : null;
    },
  );

/** An OAuth client. Only a colon in its id is encoded. */
export const idAndSecret = text(
  "Enter the client id and the client secret, separated by a colon.",
  (value) => {
    const [, id = "", secret = ""] = /^([^:]+):(.+)$/.exec(value) ?? [];
    return id === "" ? null : { id: id.replaceAll(/%3a/gi, ":"), secret };
  },
);

/** An email address in lower case, with or without a password. */
export const firstUser = text(
  "Enter an email address, and a password of at least 12 characters after a colon: you@example.com:a long phrase",
  (value) => {
    const [, given = "", password = null] = /^([^:]+)(?::(.{12,}))?$/.exec(value) ?? [];
    const read = parseMailbox(given);
    const isValid = read.ok && read.mailbox.name === null;
    return isValid ? { email: read.mailbox.address.toLowerCase(), password } : null;
  },
);

/** One sender, with or without a display name. */
export const sender = text("Enter one sender, for example Backstamp <backstamp@example.com>.", (value) =>
  parseMailbox(value).ok ? value : null,
);

/** Networks in CIDR notation. An address without a prefix length is a network of one address. */
export const networks = listOf(
  "Enter networks in CIDR notation, separated by commas, for example 10.0.0.0/8, fd00::/8.",
  (item) => {
    const [base = "", bits, ...rest] = item.split("/");
    const family = isIP(base);
    if (family === 0 || rest.length > 0) return null;
    const bitsMax = family === 4 ? 32 : 128;
    if (bits === undefined) return `${base}/${bitsMax}`;
    return /^\d{1,3}$/.test(bits) && Number(bits) <= bitsMax ? item : null;
  },
);

/** Name servers, each with its port. */
export const nameServers = listOf(
  "Enter addresses separated by commas, with the port if it is not 53: 9.9.9.9, 127.0.0.1:5353, [2620:fe::fe]:53",
  (item) => {
    if (isIP(item)) return { host: item, port: 53 };
    const [, v6, v4, digits] = /^(?:\[([^\]]+)\]|([^:]+))(?::(\d{1,5}))?$/.exec(item) ?? [];
    const host = v6 ?? v4 ?? "";
    const port = Number(digits ?? 53);
    return isIP(host) === (v6 === undefined ? 4 : 6) && port >= 1 && port <= 65_535 ? { host, port } : null;
  },
);

/** Some of these names, each with a number: `a=1,b=2`. The parsed value has the numbers by name. */
export const numbersByName = <Name extends string>(readers: Readonly<Record<Name, z.ZodType<number>>>) =>
  z.string().transform((value, context) => {
    const numbers: { [K in Name]?: number } = {};
    for (const item of list(value)) {
      const [given, ...number] = item.split("=");
      const name = (Object.keys(readers) as Name[]).find((one) => one === given);
      const result = name && readers[name].safeParse(number.join("="));
      if (name && result?.success) {
        numbers[name] = result.data;
        continue;
      }
      const wanted = result?.error?.issues.map(({ message }) => `${name}: ${message}`).join(" ");
      const names = Object.keys(readers).join(", ");
      const message = wanted ?? `Enter name=number pairs, separated by commas. The names are ${names}.`;
      context.addIssue({ code: "custom", message });
      return z.NEVER;
    }
    return numbers;
  });

/** How email is sent: the URL of a relay, `direct:`, also with a port, or `capture:`. */
export const smtpUrl = z.string().transform((value, context): string => {
  const given = value.trim();
  const [, directPort] = /^direct:(\d{1,5})?$/.exec(given) ?? [];
  if (given === "capture:" || given === "direct:" || isPort(Number(directPort))) return given;
  const read = parseSmtpUrl(given);
  if (read.ok) return given;
  context.addIssue({
    code: "custom",
    message: `${read.fault} Or set direct: to send to the recipients' MX hosts, or capture: to store email without sending it.`,
  });
  return z.NEVER;
});

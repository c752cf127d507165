import { isIP } from "node:net";

/** The host name in a `Host` header: in lower case, without the port and a dot at its end. */
export const hostNameOf = (header: string): string =>
  header.replace(/^.*@/, "").replace(/:\d*$/, "").replace(/\.$/, "").toLowerCase();

const nameCharsMax = 253;

/** Whether a name, in lower case, has a label below a domain, as that of a tracking host has. */
export const isHostBelowDomain = (name: string): boolean =>
  name.length <= nameCharsMax && /^[a-z0-9-]{1,63}(\.[a-z0-9-]{1,63}){2,}$/.test(name) && isIP(name) === 0;

import { parse } from "tldts";

// Names below a private suffix, such as github.io, have different owners, like those below a country code.
const LIST = { allowPrivateDomains: true, extractHostname: false, validateHostname: false } as const;

/** Whether a name is a public suffix, under which names can be registered: `com`, `co.uk`, `github.io`. */
export const isPublicSuffix = (name: string): boolean => parse(name, LIST).publicSuffix === name;

/**
 * The registered domain of a name: `example.co.uk` for `mail.example.co.uk`. It is usually the DNS zone, and
 * DMARC falls back to it (RFC 7489 section 3.2). Uses the Public Suffix List of the installed library
 * version.
 */
export const getRegisteredDomain = (name: string): string => parse(name, LIST).domain ?? name;

import { parse } from "tldts";

// Names below a private suffix, such as github.io, belong to different people like those below a country's.
const LIST = { allowPrivateDomains: true, extractHostname: false, validateHostname: false } as const;

/** Whether a name is a public suffix, below which anybody may register: `com`, `co.uk`, `github.io`. */
export const isPublicSuffix = (name: string): boolean => parse(name, LIST).publicSuffix === name;

/**
 * The domain that somebody registered, of which a name is part: `example.co.uk` for `mail.example.co.uk`. It is the
 * zone that a person edits, and where DMARC falls back to (RFC 7489 section 3.2). By the Public Suffix List, which
 * comes with the library and changes with it.
 */
export const registeredDomainOf = (name: string): string => parse(name, LIST).domain ?? name;

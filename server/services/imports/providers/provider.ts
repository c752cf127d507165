import type { z } from "zod";
import type { ProviderCall } from "../provider-call";
import type { FoundDomain, FoundTemplate } from "./found";

export const PROVIDER_NAMES = ["resend", "sendgrid", "postmark", "ses", "mailgun"] as const;
export type ProviderName = (typeof PROVIDER_NAMES)[number];

/**
 * Lists of suppressed addresses that providers keep apart. Bounces and complaints block all email; so does an
 * unsubscribe from everything. A group unsubscribe, from some of the email, blocks email with an unsubscribe
 * link.
 */
export const LISTS = {
  bounces: { cause: "bounce", listsOnly: false },
  invalid: { cause: "bounce", listsOnly: false },
  complaints: { cause: "complaint", listsOnly: false },
  unsubscribes: { cause: "unsubscribe", listsOnly: false },
  "group-unsubscribes": { cause: "unsubscribe", listsOnly: true },
  manual: { cause: "manual", listsOnly: false },
} as const;
export type List = keyof typeof LISTS;
export type Cause = (typeof LISTS)[List]["cause"];

/** A row as its provider writes it: names in lower case without spaces, hyphens and underscores. */
export type Row = Record<string, unknown>;

/**
 * What a row contains: an address and its list, an entry that suppresses no address, one whose list must be
 * named, or the reason why it cannot be read.
 */
export type ReadRow =
  | { address: string; list: List; at: Date | null }
  | { isOther: true }
  | { needsList: true }
  | { reason: string; name: string | null };

/** Rows of one page, in the list that the API call names. */
export type Page = { list: List | null; rows: unknown[] };

/** How a provider's suppressions are read. */
export type SuppressionSource = {
  /** The rows of a recorded response of the API; null if the document has another form. */
  rowsOf: (document: unknown) => unknown[] | null;
  /** Reads a row. `list` is what the caller or the API call names; a row can show its list itself. */
  read: (row: Row, list: List | null) => ReadRow;
  /** The lists whose rows do not show to which list they belong, so a file needs `--list`. */
  unmarked: readonly List[];
  /** All pages of the API. `domain` limits them where the provider keeps lists per domain. */
  fetch: ((call: ProviderCall, domain: string | null) => AsyncGenerator<Page>) | null;
};

/** What an import brings over. */
export type Imported = "suppressions" | "templates" | "domains";

/** Where an API is, by region, and the headers that carry the key. */
export type ProviderApi = {
  urls: { us: string; eu?: string };
  headersOf: (key: string, what: Imported) => Record<string, string>;
};

/** How a provider's domains or templates are read: the same documents from a file and from the API. */
export type DocumentSource<T> = {
  /**
   * What one document describes: a page of a list, or the details of one entry. Null if it is of another
   * kind.
   */
  read: (document: unknown) => T[] | null;
  /** The documents of the API. */
  fetch: ((call: ProviderCall, domain: string | null) => AsyncGenerator<unknown>) | null;
};

/** What a provider's templates have beside variables in braces. */
export type TagRules = {
  /** The language of blocks, such as conditions; null if the provider has none. */
  blocks: "handlebars" | "mustachio" | null;
  /** Variables that the provider fills in itself. */
  own: ReadonlySet<string>;
  /** Tags in another form, which are found by this expression. */
  other: RegExp | null;
  /** A variable with a fallback in one tag, as the groups `name` and `fallback`. */
  withFallback: RegExp | null;
};

export type Provider = {
  name: ProviderName;
  label: string;
  /** Null for a provider whose API is not called: its files are imported. */
  api: ProviderApi | null;
  suppressions: SuppressionSource;
  domains: DocumentSource<FoundDomain>;
  templates: DocumentSource<FoundTemplate>;
  tags: TagRules;
};

/** The rows of a document in one of these shapes, with the rows of each. */
export const firstOf =
  (...shapes: readonly z.ZodType<unknown[]>[]) =>
  (document: unknown): unknown[] | null => {
    for (const shape of shapes) {
      const read = shape.safeParse(document);
      if (read.success) return read.data;
    }
    return null;
  };

/**
 * Seconds in Unix time, or text in ISO 8601, RFC 2822 or `2026-01-31 12:00:00` in UTC. Null if it is neither.
 */
export function readTime(given: unknown): Date | null {
  const text = typeof given === "number" ? String(given) : typeof given === "string" ? given.trim() : "";
  const ms = /^\d{9,10}(\.\d+)?$/.test(text)
    ? Number(text) * 1_000
    : Date.parse(
        text.replace(
          /^(\d{4}-\d\d-\d\d) (\d\d:\d\d(:\d\d)?(\.\d+)?)( ?(UTC|\+00(:?00)?)( UTC)?)?$/,
          "$1T$2Z",
        ),
      );
  return Number.isFinite(ms) && ms >= earliestMs ? new Date(ms) : null;
}

/** Providers write the year 1 for an unknown time. */
const earliestMs = Date.UTC(1990, 0, 1);

/** The address of a row that has none is null, and its other cells are not repeated in the report. */
export const unreadable = (row: Row, reason: string): ReadRow => {
  const given = row.email ?? row.emailaddress ?? row.address;
  return { reason, name: typeof given === "string" && given !== "" ? given.slice(0, 100) : null };
};

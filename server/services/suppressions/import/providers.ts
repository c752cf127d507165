import { z } from "zod";

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

/** A row of a file: names in lower case without spaces, hyphens and underscores. */
export type Row = Readonly<Record<string, unknown>>;

export type Provider = {
  label: string;
  /** The columns with the address and with the time. */
  address: readonly string[];
  at: readonly string[];
  /**
   * The list of a row, given the one that the caller names; `other` for an entry that suppresses no address.
   * Null if its columns show none.
   */
  listOf: (row: Row, given: List | null) => List | "other" | null;
  /** What a row must have so that it shows its list. */
  advice: string;
  /** The lists whose rows look alike, so the caller must name one. */
  needsList?: readonly List[];
};

const textOf = (value: unknown): string =>
  typeof value === "string" ? value.replace(/\s/g, "").toLowerCase() : "";
const byName =
  (column: string, lists: Readonly<Record<string, List>>) =>
  (row: Row): List | null =>
    lists[textOf(row[column])] ?? null;

const originOf = byName("origin", { bounce: "bounces", complaint: "complaints", manual: "manual" });
const reasonOf = byName("reason", {
  hardbounce: "bounces",
  spamcomplaint: "complaints",
  manualsuppression: "manual",
});
const Unsubscribed = z.union([z.boolean(), z.stringbool()]);
const Tags = z.union([z.array(z.string()), z.string().transform((text) => [text])]).catch([]);

/**
 * How each provider's export files write suppressions, after its API reference, read on 2026-11-23:
 * https://resend.com/docs/api-reference/contacts/list-contacts (an unsubscribed contact receives no
 * broadcasts) https://www.twilio.com/docs/sendgrid/api-reference/bounces-api/retrieve-all-bounces (the row of
 * a bounce does not differ from that of a block, which SendGrid does not suppress)
 * https://postmarkapp.com/developer/api/suppressions-api (a manual one by the recipient is an unsubscribe)
 * https://docs.aws.amazon.com/cli/latest/reference/sesv2/list-suppressed-destinations.html
 * https://documentation.mailgun.com/docs/mailgun/api-reference/send/mailgun/bounces (an unsubscribe names
 * tags; `*` is all email of the domain)
 */
export const PROVIDERS: Readonly<Record<ProviderName, Provider>> = {
  resend: {
    label: "Resend",
    address: ["email"],
    at: ["createdat"],
    listOf: (row) => {
      const { data: isUnsubscribed } = Unsubscribed.safeParse(row.unsubscribed);
      if (row.origin !== undefined || isUnsubscribed === undefined) return originOf(row);
      return isUnsubscribed ? "group-unsubscribes" : "other";
    },
    advice: "The row is neither a suppression (`email`, `origin`) nor a contact (`email`, `unsubscribed`).",
  },
  sendgrid: {
    label: "SendGrid",
    address: ["email"],
    at: ["created", "createdat"],
    listOf: (row, given) => (row.groupid === undefined ? given : "group-unsubscribes"),
    advice: "",
    needsList: ["bounces", "invalid", "complaints", "unsubscribes"],
  },
  postmark: {
    label: "Postmark",
    address: ["emailaddress", "email"],
    at: ["createdat"],
    listOf: (row) => {
      const list = reasonOf({ reason: row.suppressionreason ?? row.reason });
      return list === "manual" && textOf(row.origin) === "recipient" ? "group-unsubscribes" : list;
    },
    advice: "`SuppressionReason` must be HardBounce, SpamComplaint or ManualSuppression.",
  },
  ses: {
    label: "Amazon SES",
    address: ["emailaddress"],
    at: ["lastupdatetime"],
    listOf: byName("reason", { bounce: "bounces", complaint: "complaints" }),
    advice: "`Reason` must be BOUNCE or COMPLAINT.",
  },
  mailgun: {
    label: "Mailgun",
    address: ["address"],
    at: ["createdat"],
    listOf: (row, given) => {
      if (row.tags === undefined)
        return row.code === undefined && row.error === undefined ? given : "bounces";
      const tags = Tags.parse(row.tags)
        .flatMap((tag) => tag.replace(/[[\]'"]/g, "").split(/[\s,;]+/))
        .filter(Boolean);
      return tags.length === 0 || tags.includes("*") ? "unsubscribes" : "group-unsubscribes";
    },
    advice: "",
    needsList: ["complaints"],
  },
};

/** Providers write the year 1 for an unknown time. */
const earliestMs = Date.UTC(1990, 0, 1);

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

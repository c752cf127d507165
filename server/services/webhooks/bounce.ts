import type { EventData } from "#db/schema/events";

type Reply = NonNullable<EventData["reply"]>;

/** Subjects and details of enhanced codes (RFC 3463) in the words that receivers of the dialect switch on. */
const SUBTYPE_BY_DETAIL: readonly (readonly [RegExp, string])[] = [
  [/^\d\.1\.(0|1|2|3|6|10)$/, "NoEmail"],
  [/^\d\.2\.1$/, "NoEmail"],
  [/^\d\.2\.2$/, "MailboxFull"],
  [/^\d\.(2\.3|3\.4)$/, "MessageTooLarge"],
  [/^\d\.6\.\d+$/, "ContentRejected"],
];
const SUBTYPE_BY_CODE: Record<number, string> = { 552: "MailboxFull" };

/** The same by what the refusal was found to be about, which has regard to its words too. */
const SUBTYPE_BY_CLASS: Record<string, string> = {
  hard: "NoEmail",
  quota: "MailboxFull",
  size: "MessageTooLarge",
  content: "ContentRejected",
};

/** What a refusal comes to, in the dialect's closed words and in the server's own. */
export function bounceOf({ reply, reason, class: about, advice }: EventData) {
  return {
    type: typeOf(reply ?? null),
    subType: about === undefined ? subTypeOf(reply ?? null) : (SUBTYPE_BY_CLASS[about] ?? "General"),
    message: reason ?? "The receiving server refused the mail.",
    diagnosticCode: diagnosticCodes(reply),
    ...(about === undefined ? {} : { class: about, advice }),
  };
}

/** The reply in the form of RFC 3464's Diagnostic-Code; empty where there was none. */
export function diagnosticCodes(reply: EventData["reply"]): string[] {
  if (!reply) return [];
  const text = [reply.code, reply.enhanced, reply.text]
    .filter((part) => part !== null && part !== "")
    .join(" ");
  return text === "" ? [] : [`smtp; ${text}`];
}

function typeOf(reply: Reply | null): string {
  const digit = reply?.enhanced?.[0] ?? String(reply?.code ?? "")[0];
  return digit === "5" ? "Permanent" : digit === "4" ? "Transient" : "Undetermined";
}

function subTypeOf(reply: Reply | null): string {
  if (!reply) return "Undetermined";
  const { enhanced, code } = reply;
  const byDetail = enhanced && SUBTYPE_BY_DETAIL.find(([pattern]) => pattern.test(enhanced))?.[1];
  return byDetail || SUBTYPE_BY_CODE[code ?? 0] || "General";
}

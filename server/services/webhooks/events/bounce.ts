import type { EventData } from "#db/schema/events";

type Reply = NonNullable<EventData["reply"]>;

/** Maps subject and detail of enhanced status codes (RFC 3463) to the subtypes of the Resend API. */
const SUBTYPE_BY_DETAIL: readonly (readonly [RegExp, string])[] = [
  [/^\d\.1\.(0|1|2|3|6|10)$/, "NoEmail"],
  [/^\d\.2\.1$/, "NoEmail"],
  [/^\d\.2\.2$/, "MailboxFull"],
  [/^\d\.(2\.3|3\.4)$/, "MessageTooLarge"],
  [/^\d\.6\.\d+$/, "ContentRejected"],
];
const SUBTYPE_BY_CODE: Record<number, string> = { 552: "MailboxFull" };

/** Maps the class of a rejection, which also considers its text, to the same subtypes. */
const SUBTYPE_BY_CLASS: Record<string, string> = {
  hard: "NoEmail",
  quota: "MailboxFull",
  size: "MessageTooLarge",
  content: "ContentRejected",
};

/** The `bounce` object of a payload: type and subtype as in the Resend API, and the server's own reply. */
export function bounceOf({ reply, reason, class: about, advice }: EventData) {
  return {
    type: typeOf(reply ?? null),
    subType: about === undefined ? subTypeOf(reply ?? null) : (SUBTYPE_BY_CLASS[about] ?? "General"),
    message: reason ?? "The receiving server rejected the email.",
    diagnosticCode: diagnosticCodes(reply),
    ...(about === undefined ? {} : { class: about, advice }),
  };
}

/** The reply as a Diagnostic-Code (RFC 3464); empty without a reply. */
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

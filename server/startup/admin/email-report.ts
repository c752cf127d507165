import type { emailJson } from "#server/rest/wire/email";
import { formatTime } from "./terminal";

type Shown = ReturnType<typeof emailJson>;
type Recipient = Shown["recipients"][number];
type Event = Shown["events"][number];

/** Formats an email from its REST representation as lines of text: fields, recipients and timeline. */
export function describeEmail(email: Shown, now: Date): string[] {
  return [
    `Email ${email.id}`,
    "",
    ...field("Status", email.status),
    ...field("Subject", email.subject),
    ...field("From", email.from),
    ...field("To", email.to.join(", ")),
    ...field("Cc", email.cc.join(", ")),
    ...field("Bcc", email.bcc.join(", ")),
    ...field("Reply-To", email.reply_to.join(", ")),
    ...field("Tags", email.tags.map(({ name, value }) => `${name}=${value}`).join(", ")),
    ...field("Priority", email.priority === "normal" ? null : email.priority),
    ...field("Key", email.api_key_name),
    ...field("Message-ID", email.message_id),
    ...field("Accepted", formatTime(new Date(email.created_at))),
    "",
    "Recipients",
    ...email.recipients.flatMap((recipient) => describeRecipient(recipient, now)),
    "",
    "Timeline",
    ...email.events.map(describeEvent),
  ];
}

const field = (label: string, value: string | null): string[] =>
  value ? [`  ${label.padEnd(11)} ${value}`] : [];

function describeRecipient(recipient: Recipient, now: Date): string[] {
  const { address, kind, status, attempts } = recipient;
  const detail = (label: string, value: string | null | undefined) =>
    value ? [`      ${label.padEnd(8)} ${value}`] : [];
  return [
    "",
    `  ${address} (${kind}): ${status}, ${attempts} attempt${attempts === 1 ? "" : "s"}`,
    ...detail("Relay", recipient.relay),
    ...detail("Relay id", recipient.provider_id),
    ...detail("Server", recipient.last_reply?.host),
    ...detail("Reply", replyOf(recipient.last_reply)),
    ...detail("Meaning", recipient.reason),
    ...detail("Advice", recipient.advice),
    ...detail("Next", nextOf(recipient, now)),
    ...detail("Rule", recipient.rule_text),
  ];
}

function nextOf({ status, next_attempt_at: at }: Recipient, now: Date): string {
  switch (status) {
    case "sending":
      return "attempt in progress";
    case "queued":
    case "deferred":
    case "scheduled": {
      if (at === null) return "not scheduled";
      const waitMs = new Date(at).getTime() - now.getTime();
      return waitMs <= 0 ? "due now" : `${formatTime(new Date(at))}, in ${spanOf(waitMs)}`;
    }
    default:
      return "no further attempts";
  }
}

function replyOf(reply: { code: number | null; enhanced: string | null; text: string | null } | null) {
  if (!reply) return null;
  return [reply.code, reply.enhanced, reply.text].filter((part) => part !== null && part !== "").join(" ");
}

function describeEvent({ created_at, type, recipient, data }: Event): string {
  const { attempt, reason, next_attempt_at: next } = data;
  const facts = [
    recipient,
    typeof attempt === "number" ? `attempt ${attempt}` : null,
    typeof reason === "string" ? reason : null,
    typeof next === "string" ? `next attempt ${formatTime(new Date(next))}` : null,
  ];
  return `  ${created_at}  ${type.padEnd(22)} ${facts.filter((fact) => fact !== null).join("; ")}`.trimEnd();
}

function spanOf(ms: number): string {
  const minutes = Math.round(ms / 60_000);
  if (minutes < 1) return `${Math.ceil(ms / 1000)} s`;
  return minutes < 120 ? `${minutes} min` : `${Math.round(minutes / 60)} h`;
}

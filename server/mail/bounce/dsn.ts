import { parseDiagnostic, parseStatus } from "./diagnostic";
import { type Field, findAddresses, findField, parseFields, splitType } from "./fields";
import { decodeText, listParts, type Part } from "./mime";
import { ACTIONS, type Action, type Reported } from "./report";

const recipientsMax = 100;
const STATUS_TYPE = /^message\/(global-)?delivery-status$/;

/** Words for an action that servers use in place of those of RFC 3464. */
const OTHER_WORDS: Readonly<Record<string, Action>> = {
  fail: "failed",
  failure: "failed",
  bounced: "failed",
  expired: "failed",
  rejected: "failed",
  undeliverable: "failed",
  delay: "delayed",
  deferred: "delayed",
  success: "delivered",
};

/**
 * Reads the per-recipient status of a delivery status notification (RFC 3464 inside RFC 6522, and RFC 6533
 * for non-ASCII addresses). The first address of each entry is the one that we sent to, if the report
 * includes it (ORCPT, RFC 3461). Null if the message is not such a notification. Recipients without a known
 * action are skipped.
 */
export function parseDsn(message: Part): Reported[] | null {
  const status = [...listParts(message)].find(({ type }) => STATUS_TYPE.test(type));
  return status ? parseStatusText(decodeText(status)) : null;
}

/**
 * Reads the fields of RFC 3464 in the text of a report: some servers do not send them as a part of their own.
 * Null if there are none.
 */
export function parseDsnText(message: Part): Reported[] | null {
  for (const part of listParts(message)) {
    if (part.parts.length > 0 || !/^(?:text|multipart)\//.test(part.type)) continue;
    const text = decodeText(part);
    const at = text.search(/^(?:reporting-mta|final-recipient|original-recipient|action): ?\S/im);
    if (at === -1 || !/^(?:final|original)-recipient: ?\S/im.test(text)) continue;
    const found = parseStatusText(text.slice(at)).filter(({ recipients }) => recipients.length > 0);
    if (found.length > 0) return found;
  }
  return null;
}

function parseStatusText(text: string): Reported[] {
  // Some servers put a blank line before the first block, or several blank lines between blocks.
  const [ofMessage, ...ofRecipients] = text
    .split(/\n[ \t]*\n/)
    .map(parseFields)
    .filter((fields) => fields.length > 0);
  if (!ofMessage) return [];
  const isOfRecipient = ["action", "final-recipient"].some((name) => findField(ofMessage, name) !== null);
  const groups = isOfRecipient ? [ofMessage, ...ofRecipients] : ofRecipients;
  const reporting = hostOf(findField(ofMessage, "reporting-mta"));
  return groups.slice(0, recipientsMax).flatMap((fields) => readGroup(fields, reporting) ?? []);
}

function readGroup(fields: Field[], reporting: string | null): Reported | null {
  const stated = findField(fields, "status");
  const status = parseStatus(stated);
  const action = readAction(findField(fields, "action"), status);
  if (!action) return null;
  const { value: diagnostic } = splitType(findField(fields, "diagnostic-code") ?? "");
  const recipients = ["original-recipient", "final-recipient"].flatMap((name) => {
    const { type, value } = splitType(findField(fields, name) ?? "");
    return findAddresses(type === "utf-8" ? decodeUtf8Address(value) : value, 1);
  });
  return {
    action,
    recipients: [...new Set(recipients)],
    // Without a diagnostic, the status can have a comment.
    reply: parseDiagnostic(diagnostic || commentOf(stated ?? ""), status),
    host: hostOf(findField(fields, "remote-mta")) ?? reporting,
  };
}

function readAction(value: string | null, status: string | null): Action | undefined {
  const word = value?.toLowerCase().split(/[^a-z]/, 1)[0] ?? "";
  // Without the field, the status says it; RFC 3464 requires both.
  if (word === "") return status === null ? undefined : status.startsWith("5") ? "failed" : "delayed";
  return ACTIONS.find((known) => known === word) ?? OTHER_WORDS[word];
}

/** `5.0.0 (no such user)`, and a reply in place of the status. */
const commentOf = (status: string): string =>
  /^[\d.]{5,12}\s+\((.{1,1000})\)/.exec(status)?.[1] ?? (/^[45]\d\d /.test(status) ? status : "");

/** Turns `dns; mx.example.com` into `mx.example.com`. */
function hostOf(value: string | null): string | null {
  const host = /^[\w.:-]{1,255}/.exec(splitType(value ?? "").value)?.[0];
  return host ?? null;
}

/** Decodes escapes such as `\x{E9}` for é (RFC 6533 section 3). */
const decodeUtf8Address = (value: string): string =>
  value.replace(/\\x\{([0-9A-Fa-f]{2,6})\}/g, (whole, hex: string) => {
    const code = Number.parseInt(hex, 16);
    return code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff) ? whole : String.fromCodePoint(code);
  });

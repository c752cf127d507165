import { parseDiagnostic, parseStatus } from "./diagnostic";
import { type Field, findAddresses, findField, parseFields, splitType } from "./fields";
import { decodeText, listParts, type Part } from "./mime";
import { ACTIONS, type Reported } from "./report";

const recipientsMax = 100;
const STATUS_TYPE = /^message\/(global-)?delivery-status$/;

/**
 * Reads the per-recipient status of a delivery status notification (RFC 3464 inside RFC 6522, and RFC 6533
 * for non-ASCII addresses). The first address of each entry is the one that we sent to, if the report
 * includes it (ORCPT, RFC 3461). Null if the message is not such a notification. Recipients without a known
 * action are skipped.
 */
export function parseDsn(message: Part): Reported[] | null {
  const status = [...listParts(message)].find(({ type }) => STATUS_TYPE.test(type));
  if (!status) return null;
  // Some servers put a blank line before the first block, or several blank lines between blocks.
  const [ofMessage, ...ofRecipients] = decodeText(status)
    .split(/\n[ \t]*\n/)
    .map(parseFields)
    .filter((fields) => fields.length > 0);
  if (!ofMessage) return [];
  const groups = findField(ofMessage, "action") === null ? ofRecipients : [ofMessage, ...ofRecipients];
  const reporting = hostOf(findField(ofMessage, "reporting-mta"));
  return groups.slice(0, recipientsMax).flatMap((fields) => readGroup(fields, reporting) ?? []);
}

function readGroup(fields: Field[], reporting: string | null): Reported | null {
  const word = findField(fields, "action")
    ?.toLowerCase()
    .split(/[^a-z]/, 1)[0];
  const action = ACTIONS.find((known) => known === word);
  if (!action) return null;
  const status = parseStatus(findField(fields, "status"));
  const { value: diagnostic } = splitType(findField(fields, "diagnostic-code") ?? "");
  const recipients = ["original-recipient", "final-recipient"].flatMap((name) => {
    const { type, value } = splitType(findField(fields, name) ?? "");
    return findAddresses(type === "utf-8" ? decodeUtf8Address(value) : value, 1);
  });
  return {
    action,
    recipients: [...new Set(recipients)],
    reply: parseDiagnostic(diagnostic, status),
    host: hostOf(findField(fields, "remote-mta")) ?? reporting,
  };
}

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

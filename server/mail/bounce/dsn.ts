import { readDiagnostic, readStatus } from "./diagnostic";
import { addressesIn, type Field, fieldOf, readFields, withoutType } from "./fields";
import { allParts, type Part, textOf } from "./mime";
import { ACTIONS, type Reported } from "./report";

const recipientsMax = 100;
const STATUS_TYPES: ReadonlySet<string> = new Set([
  "message/delivery-status",
  "message/global-delivery-status",
]);

/**
 * What a delivery report says of each recipient (RFC 3464, within the report of RFC 6522, and RFC 6533 for addresses outside
 * ASCII), under the address that we wrote to where a server kept it (ORCPT of RFC 3461); null where the message is none. A
 * recipient without a known action is passed over.
 */
export function readDsn(message: Part): Reported[] | null {
  const status = [...allParts(message)].find(({ type }) => STATUS_TYPES.has(type));
  if (!status) return null;
  // Some servers put a blank line before the first block, or several between two.
  const [ofMessage, ...ofRecipients] = textOf(status)
    .split(/\n[ \t]*\n/)
    .map(readFields)
    .filter((fields) => fields.length > 0);
  if (!ofMessage) return [];
  const groups = fieldOf(ofMessage, "action") === null ? ofRecipients : [ofMessage, ...ofRecipients];
  const reporting = hostOf(fieldOf(ofMessage, "reporting-mta"));
  return groups.slice(0, recipientsMax).flatMap((fields) => readGroup(fields, reporting) ?? []);
}

function readGroup(fields: Field[], reporting: string | null): Reported | null {
  const word = fieldOf(fields, "action")
    ?.toLowerCase()
    .split(/[^a-z]/, 1)[0];
  const action = ACTIONS.find((known) => known === word);
  if (!action) return null;
  const status = readStatus(fieldOf(fields, "status"));
  const { value: said } = withoutType(fieldOf(fields, "diagnostic-code") ?? "");
  const recipients = ["original-recipient", "final-recipient"].flatMap((name) => {
    const { type, value } = withoutType(fieldOf(fields, name) ?? "");
    return addressesIn(type === "utf-8" ? decodeUtf8Address(value) : value, 1);
  });
  return {
    action,
    recipients: [...new Set(recipients)],
    reply: readDiagnostic(said, status),
    host: hostOf(fieldOf(fields, "remote-mta")) ?? reporting,
  };
}

/** `dns; mx.example.com` is `mx.example.com`. */
function hostOf(value: string | null): string | null {
  const host = /^[\w.:-]{1,255}/.exec(withoutType(value ?? "").value)?.[0];
  return host ?? null;
}

/** `\x{E9}` stands for é (RFC 6533 section 3). */
const decodeUtf8Address = (value: string): string =>
  value.replace(/\\x\{([0-9A-Fa-f]{2,6})\}/g, (whole, hex: string) => {
    const code = Number.parseInt(hex, 16);
    return code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff) ? whole : String.fromCodePoint(code);
  });

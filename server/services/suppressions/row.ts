import { SUPPRESSION_ORIGINS, type SuppressionOrigin } from "#db/schema/suppressions";
import { parseMailbox } from "#server/mail/address/address";
import { isId } from "#server/platform/ids";
import { restoreCell } from "#server/shared/csv-cell";
import type { NewSuppression } from "./suppress";

/** Column indexes; -1 for a missing column. Without a heading, the first column contains the addresses. */
export type Columns = {
  isHeading: boolean;
  address: number;
  origin: number;
  reason: number;
  source: number;
  listsOnly: number;
};

/**
 * Reads the first line: the columns of our own export, and the names that other services use for address and
 * reason.
 */
export function findColumns(record: readonly string[]): Columns {
  const find = (name: RegExp) => record.findIndex((cell) => name.test(cell));
  const address = find(/^(e-?mail|address|e-?mail[ _]?address)$/i);
  if (address === -1)
    return { isHeading: false, address: 0, origin: -1, reason: -1, source: -1, listsOnly: -1 };
  return {
    isHeading: true,
    address,
    origin: find(/^origin$/i),
    reason: find(/^(suppression[ _]?)?reason$/i),
    source: find(/^source_id$/i),
    listsOnly: find(/^lists_only$/i),
  };
}

/** Reasons as other services name them, in lower case without spaces, hyphens and underscores. */
const REASONS: Record<string, SuppressionOrigin> = {
  bounce: "bounce",
  bounced: "bounce",
  hardbounce: "bounce",
  complaint: "complaint",
  spamcomplaint: "complaint",
  spamreport: "complaint",
};

/**
 * Parses one line; returns the entry or the error message. An unknown reason counts as `manual`, an empty
 * cell as absent.
 */
export function readEntry(columns: Columns, record: readonly string[]): NewSuppression | string {
  const cellOf = (column: number) => restoreCell(record[column] ?? "");
  const mailbox = parseMailbox(cellOf(columns.address));
  if (!mailbox.ok) return mailbox.fault;
  const [origin, source, extent] = [
    cellOf(columns.origin),
    cellOf(columns.source),
    cellOf(columns.listsOnly),
  ];
  const known = SUPPRESSION_ORIGINS.find((each) => each === origin.toLowerCase());
  if (origin !== "" && !known)
    return `Invalid \`origin\`: must be one of ${SUPPRESSION_ORIGINS.join(", ")}, or empty.`;
  if (source !== "" && !isId(source)) return "Invalid `source_id`: must be the id of an email, or empty.";
  if (!/^(true|false)?$/i.test(extent)) return "Invalid `lists_only`: must be true or false, or empty.";
  const reason = REASONS[cellOf(columns.reason).toLowerCase().replace(/[ _-]/g, "")];
  return {
    address: mailbox.mailbox.address,
    origin: known ?? reason ?? "manual",
    sourceEmailId: source === "" ? null : source,
    listsOnly: extent.toLowerCase() === "true",
  };
}

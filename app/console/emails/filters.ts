import { parseAsString, parseAsStringLiteral } from "nuqs/server";
import { EMAIL_STATUS_NAMES } from "../_ui/statuses";

/** What of the list stands in the page's address. */
export const emailFilters = {
  status: parseAsStringLiteral(EMAIL_STATUS_NAMES),
  recipient: parseAsString,
  subject: parseAsString,
  after: parseAsString,
  before: parseAsString,
};

export type EmailFilters = {
  status: (typeof EMAIL_STATUS_NAMES)[number] | null;
  recipient: string | null;
  subject: string | null;
  after: string | null;
  before: string | null;
};

/** The input of the call that fills the list; the server's and the browser's must be equal to share a result. */
export function listInput(team: string, filters: EmailFilters) {
  const { status, recipient, subject, after, before } = filters;
  return {
    team,
    ...(status ? { status } : {}),
    ...(recipient ? { recipient } : {}),
    ...(subject ? { subject } : {}),
    ...(after ? { after } : {}),
    ...(before ? { before } : {}),
  };
}

export const isFiltered = ({ status, recipient, subject }: EmailFilters): boolean =>
  Boolean(status || recipient || subject);

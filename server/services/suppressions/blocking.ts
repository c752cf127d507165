import type { EmailSummary } from "#server/shared/wire/email";
import type { Suppression } from "#server/shared/wire/suppression";
import { listedForm } from "./erased";

type Entry = Pick<Suppression, "listsOnly" | "lists">;
type Offer = Pick<EmailSummary, "listUnsubscribe"> & { listName?: string | null | undefined };

/**
 * Whether an entry blocks an email to its address. An unsubscribe blocks only email that offers
 * unsubscribing: all of it, or that of the named lists.
 */
export const isBlocking = ({ listsOnly, lists }: Entry, { listUnsubscribe, listName }: Offer): boolean =>
  !listsOnly || (listUnsubscribe && (lists === null || lists.includes(listName ?? "")));

/** SQL: the same for an entry `s` and an email `h`. */
const BLOCKS = `(not s.lists_only or (h.offers_unsubscribe and (s.lists is null or h.list_name = any(s.lists))))`;

/** SQL: no entry of the suppression list blocks a delivery `d` to the address `h.address`. */
export const IS_NOT_SUPPRESSED = `
  not exists (select from suppressions s where s.team_id = d.team_id and s.address = h.address and ${BLOCKS})
  and not exists (select from suppressions s
    where s.team_id = d.team_id and s.address = ${listedForm("d.team_id", "h.address")} and ${BLOCKS})`;

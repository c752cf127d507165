import type { Role } from "#db/schema/teams";
import type { Vault } from "#server/vault";

/** What the text of each kind of mail is made of, beside its recipient. */
export type Details = {
  sign_in_link: {
    /** Where to go afterwards: a path of ours. */
    landing: string;
    /** With what it was asked for, in our own words, such as "Firefox on Linux". */
    device: string | null;
  };
  password_reset: Details["sign_in_link"];
  invitation: {
    /** Path, query and fragment of the link; the origin is the installation's. */
    path: string;
    team: string;
    role: Role;
    /** Address of who invites; null for the operator. */
    inviter: string | null;
  };
};

// It belongs to no team.
const placeOf = (id: string) => ({ table: "system_mails", column: "details", id, teamId: "" });

/** Encrypts them for their row: a link that was not handed over yet must not be read out of a copy of the database. */
export const sealDetails = (vault: Vault, id: string, details: Details[keyof Details]): string =>
  vault.seal(JSON.stringify(details), placeOf(id));

/** Reads them back. Throws where they were sealed under another secret, or for another row. */
export const openDetails = <K extends keyof Details>(
  vault: Vault,
  row: { id: string; kind: K; details: string },
): Details[K] => JSON.parse(vault.open(row.details, placeOf(row.id)));

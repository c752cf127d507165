import type { Role } from "#db/schema/teams";
import { SEALED } from "#server/platform/secrets/sealed-columns";
import type { Vault } from "#server/platform/secrets/vault";

/** The data of each kind of system email, in addition to its recipient. */
export type Details = {
  sign_in_link: {
    /** The local path to open afterwards. */
    landing: string;
    /** The browser that requested it, such as "Firefox on Linux". */
    device: string | null;
  };
  password_reset: Details["sign_in_link"];
  new_device: {
    /** ISO 8601. */
    at: string;
    /** The browser, such as "Firefox on Linux". */
    device: string | null;
    /** IP address, or the network of an IPv6 address. */
    address: string;
    /** The sign-in method in words, such as "password and an authenticator app". */
    method: string;
    /** Local path of the page that shows the sessions. */
    path: string;
  };
  address_confirmation: {
    /** Path and query of the link; the origin is the installation's. */
    path: string;
    /** The present address of the account. */
    from: string;
    device: string | null;
  };
  address_changed: {
    /** ISO 8601. */
    at: string;
    /** The new address of the account. */
    to: string;
    device: string | null;
    path: string;
  };
  invitation: {
    /** Path, query and fragment of the link; the origin is the installation's. */
    path: string;
    team: string;
    role: Role;
    /** Email address of the inviter; null for the operator. */
    inviter: string | null;
  };
  alert: {
    items: {
      event: "opened" | "reminder" | "resolved";
      title: string;
      /** The domain, endpoint, relay or team; empty if it is about the whole scope. */
      name: string;
      /** Null for an alert of the installation. */
      teamId: string | null;
      team: string | null;
      message: string;
      toDo: string;
    }[];
    /** Alerts that the email only counts. */
    more: number;
    /** Local path of the page that shows them. */
    path: string;
  };
  team_deletion: {
    deletionId: string;
    event: "requested" | "canceled";
    team: string;
    /** Email address of the user who did it; null for the operator. */
    by: string | null;
    /** ISO 8601. */
    deletesAt: string;
    /** Local path of the settings of the team. */
    path: string;
  };
};

/**
 * Encrypts the details for their row. A copy of the database must not reveal a link that was not sent yet.
 */
export const sealDetails = (vault: Vault, id: string, details: Details[keyof Details]): string =>
  vault.seal(JSON.stringify(details), SEALED.systemMail.locationOf({ id }));

/** Decrypts the details. Throws if they were encrypted with another secret or for another row. */
export const openDetails = <K extends keyof Details>(
  vault: Vault,
  row: { id: string; kind: K; details: string },
): Details[K] => JSON.parse(vault.open(row.details, SEALED.systemMail.locationOf({ id: row.id })));

import type { invitations } from "#db/schema/teams";
import { type Presented, presentRow } from "../shapes";

type Row = typeof invitations.$inferSelect;

/** A pending invitation. Its link is shown only once, to the member who created it. */
export type Invitation = Pick<Row, "id" | "email" | "role" | "linkedAt" | "expiresAt"> & {
  /** Email address of the inviter; null for the operator or a deleted user. */
  invitedBy: string | null;
  isExpired: boolean;
};

/** The result for the inviter. The link is shown only once: the database holds a hash of its token. */
export type CreatedInvitation = Pick<Row, "id" | "email" | "role" | "expiresAt"> & {
  link: string;
  /** Whether an email with a separate link is sent as well. If not, the inviter has to pass this link on. */
  isMailed: boolean;
  /** Why no email is sent, and how to fix it. */
  mailFault: string | null;
};

/** Why an invitation link is not valid. */
export type InvitationFault = "unknown" | "accepted" | "withdrawn" | "expired";

/** What a visitor with the link can see before accepting. */
export type InvitationPreview =
  | (Pick<Invitation, "email" | "role" | "invitedBy" | "expiresAt"> & {
      state: "open";
      teamName: string;
      /** Whether the invited address already has a user. Then only that user may accept. */
      hasUser: boolean;
    })
  | { state: InvitationFault };

export type InvitationResponse = Presented<Invitation>;
export type CreatedInvitationResponse = Presented<CreatedInvitation>;

/** An invitation as the invited person sees it. */
export const presentInvitationPreview = (preview: InvitationPreview) =>
  preview.state === "open" ? presentRow(preview) : { state: preview.state };

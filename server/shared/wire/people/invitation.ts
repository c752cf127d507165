import type { Role } from "#db/schema/teams";
import { type Presented, presentRow } from "../shapes";

/** A pending invitation. Its link is shown only once, to the member who created it. */
export type Invitation = {
  id: string;
  email: string;
  role: Role;
  /** Email address of the inviter; null for the operator or a deleted user. */
  invitedBy: string | null;
  /** When its current link was created. */
  linkedAt: Date;
  expiresAt: Date;
  isExpired: boolean;
};

/** The result for the inviter. The link is shown only once: the database holds a hash of its token. */
export type CreatedInvitation = {
  id: string;
  email: string;
  role: Role;
  link: string;
  expiresAt: Date;
  /** Whether an email with a separate link is sent as well. If not, the inviter has to pass this link on. */
  isMailed: boolean;
  /** Why no email is sent, and how to fix it. */
  mailFault: string | null;
};

/** Why an invitation link is not valid. */
export type InvitationFault = "unknown" | "accepted" | "withdrawn" | "expired";

/** What a visitor with the link can see before accepting. */
export type InvitationPreview =
  | {
      state: "open";
      teamName: string;
      email: string;
      role: Role;
      /** Email address of the inviter; null for the operator or a deleted user. */
      invitedBy: string | null;
      expiresAt: Date;
      /** Whether the invited address already has a user. Then only that user may accept. */
      hasUser: boolean;
    }
  | { state: InvitationFault };

export type InvitationResponse = Presented<Invitation>;
export type CreatedInvitationResponse = Presented<CreatedInvitation>;

/** An invitation as the invited person sees it. */
export const presentInvitationPreview = (preview: InvitationPreview) =>
  preview.state === "open" ? presentRow(preview) : { state: preview.state };

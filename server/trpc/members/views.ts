import type { InvitationView } from "#server/services/invitations/accept";
import type { Invitation } from "#server/services/invitations/read";
import type { CreatedInvitation } from "#server/services/invitations/send";
import type { Member } from "#server/services/members/read";

/** A member of the team. Times are ISO 8601. */
export function viewMember(member: Member, readerId: string) {
  return {
    id: member.userId,
    email: member.email,
    name: member.name,
    role: member.role,
    isSelf: member.userId === readerId,
    isTwoFactorOn: member.isTwoFactorOn,
    joinedAt: member.joinedAt.toISOString(),
    lastSeenAt: member.lastSeenAt?.toISOString() ?? null,
  };
}
export type MemberRow = ReturnType<typeof viewMember>;

/** A pending invitation. Its link is only in the response that created it. */
export function viewInvitation(invitation: Invitation) {
  return {
    id: invitation.id,
    email: invitation.email,
    role: invitation.role,
    invitedBy: invitation.invitedBy,
    isExpired: invitation.isExpired,
    linkedAt: invitation.linkedAt.toISOString(),
    expiresAt: invitation.expiresAt.toISOString(),
  };
}
export type InvitationRow = ReturnType<typeof viewInvitation>;

/** The only response that contains the link. */
export function viewCreatedInvitation({
  id,
  email,
  role,
  link,
  isMailed,
  mailFault,
  expiresAt,
}: CreatedInvitation) {
  return { id, email, role, link, isMailed, mailFault, expiresAt: expiresAt.toISOString() };
}
export type CreatedInvitationView = ReturnType<typeof viewCreatedInvitation>;

/**
 * What an invited person sees before accepting; `signedInAs` is the address signed in on this browser, if
 * any.
 */
export function viewInvitationPreview(view: InvitationView, signedInAs: string | null) {
  return view.state === "open"
    ? { ...view, expiresAt: view.expiresAt.toISOString(), signedInAs }
    : { ...view, signedInAs };
}
export type InvitationPreview = ReturnType<typeof viewInvitationPreview>;

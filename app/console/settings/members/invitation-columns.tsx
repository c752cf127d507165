import { Link2, X } from "lucide-react";
import type { InvitationRow } from "#server/trpc/member-views";
import { Badge } from "../../_ui/badge";
import type { Column } from "../../_ui/data-table";
import { Menu } from "../../_ui/menu";
import { When } from "../../_ui/when";
import { ROLE_WORDS } from "./roles";

export type InvitationAct = { kind: "renew" | "withdraw"; invitation: InvitationRow };

type Offers = { mayManageOwners: boolean; onAct: (act: InvitationAct) => void };

export const invitationColumns = (offers: Offers): Column<InvitationRow>[] => [
  { id: "email", header: "Address", cell: ({ email }) => <span title={email}>{email}</span> },
  {
    id: "role",
    header: "Role",
    width: "w-28",
    cell: ({ role }) => <Badge tone={ROLE_WORDS[role].tone}>{ROLE_WORDS[role].label}</Badge>,
  },
  {
    id: "by",
    header: "Invited by",
    width: "w-60",
    cell: ({ invitedBy }) => (
      <span className="text-soft" title={invitedBy ?? undefined}>
        {invitedBy ?? "The operator"}
      </span>
    ),
  },
  {
    id: "linked",
    header: "Link made",
    width: "w-32",
    cell: ({ linkedAt }) => <When at={linkedAt} className="text-soft" />,
  },
  {
    id: "until",
    header: "Runs out",
    width: "w-32",
    cell: ({ expiresAt, isExpired }) =>
      isExpired ? <Badge tone="warn">Run out</Badge> : <When at={expiresAt} className="text-soft" />,
  },
  {
    id: "acts",
    header: "Actions",
    width: "w-16",
    align: "right",
    phone: "corner",
    isActive: true,
    isHeaderHidden: true,
    cell: (invitation) => <InvitationMenu invitation={invitation} {...offers} />,
  },
];

function InvitationMenu({ invitation, mayManageOwners, onAct }: Offers & { invitation: InvitationRow }) {
  if (invitation.role === "owner" && !mayManageOwners) return null;
  return (
    <Menu
      label={`Actions for the invitation of ${invitation.email}`}
      items={[
        { label: "Make a new link…", Icon: Link2, onSelect: () => onAct({ kind: "renew", invitation }) },
        { label: "Withdraw…", Icon: X, tone: "bad", onSelect: () => onAct({ kind: "withdraw", invitation }) },
      ]}
    />
  );
}

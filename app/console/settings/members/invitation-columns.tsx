import { Link2, X } from "lucide-react";
import type { InvitationResponse } from "#server/shared/wire/people/invitation";
import { Menu } from "../../_ui/dialog/menu";
import { type Column, MENU_COLUMN } from "../../_ui/list/data-table";
import { Badge } from "../../_ui/text/badge";
import { When } from "../../_ui/text/when";
import { RoleBadge } from "./roles";

export type InvitationAction = { kind: "renew" | "withdraw"; invitation: InvitationResponse };

type ActionProps = { canManageOwners: boolean; onAction: (run: InvitationAction) => void };

export const invitationColumns = ({
  canManageOwners,
  onAction,
}: ActionProps): Column<InvitationResponse>[] => [
  { id: "email", header: "Email address", cell: ({ email }) => <span title={email}>{email}</span> },
  { id: "role", header: "Role", width: "w-28", cell: ({ role }) => <RoleBadge role={role} /> },
  {
    id: "by",
    header: "Invited by",
    width: "w-60",
    cell: ({ invited_by }) => (
      <span className="text-soft" title={invited_by ?? undefined}>
        {invited_by ?? "The operator"}
      </span>
    ),
  },
  {
    id: "sent",
    header: "Sent",
    width: "w-32",
    cell: ({ linked_at }) => <When at={linked_at} className="text-soft" />,
  },
  {
    id: "expires",
    header: "Expires",
    width: "w-32",
    cell: ({ expires_at, is_expired }) =>
      is_expired ? <Badge tone="warn">Expired</Badge> : <When at={expires_at} className="text-soft" />,
  },
  {
    ...MENU_COLUMN,
    cell: (invitation) => {
      if (invitation.role === "owner" && !canManageOwners) return null;
      const act = (kind: InvitationAction["kind"]) => () => onAction({ kind, invitation });
      return (
        <Menu
          label={`Actions for the invitation for ${invitation.email}`}
          items={[
            { label: "Create new link…", Icon: Link2, onSelect: act("renew") },
            { label: "Withdraw…", Icon: X, tone: "bad", onSelect: act("withdraw") },
          ]}
        />
      );
    },
  },
];

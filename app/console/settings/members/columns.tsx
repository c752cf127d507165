import { Link2, LogOut, ShieldCheck, UserCog, UserMinus, X } from "lucide-react";
import type { InvitationResponse } from "#server/shared/wire/people/invitation";
import type { MemberRow } from "#server/trpc/members/members";
import { Menu } from "../../_ui/dialog/menu";
import type { MenuItem } from "../../_ui/dialog/menu-open";
import { type Column, MENU_COLUMN, timeColumn } from "../../_ui/list/data-table";
import { WholeAddress } from "../../_ui/text/address";
import { Badge } from "../../_ui/text/badge";
import { When } from "../../_ui/text/when";
import { RoleBadge } from "./roles";

export type MemberAction = { kind: "role" | "remove" | "leave"; member: MemberRow };

type MemberProps = { canManage: boolean; canManageOwners: boolean; onAction: (run: MemberAction) => void };

/** The columns of the member list. The menu contains only actions that the role of the user permits. */
export const memberColumns = (actionProps: MemberProps): Column<MemberRow>[] => [
  { header: "Member", cell: (member) => <Person member={member} /> },
  { header: "Role", width: "w-28", cell: ({ role }) => <RoleBadge role={role} /> },
  {
    header: "2FA",
    width: "w-36",
    cell: ({ is_two_factor_on }) =>
      is_two_factor_on ? (
        <span className="inline-flex items-center gap-1.5 text-good">
          <ShieldCheck className="size-4" aria-hidden="true" /> On
        </span>
      ) : (
        <span className="text-soft">Off</span>
      ),
  },
  timeColumn("Joined", ({ joined_at }) => joined_at, { width: "w-32", isWide: true }),
  timeColumn("Last active", ({ last_seen_at }) => last_seen_at, { width: "w-32", none: "Never" }),
  { ...MENU_COLUMN, cell: (member) => <MemberMenu member={member} {...actionProps} /> },
];

function Person({ member: { email, name, isSelf } }: { member: MemberRow }) {
  return (
    <span className="block whitespace-normal wrap-anywhere">
      {name ?? <WholeAddress>{email}</WholeAddress>}
      {isSelf ? <span className="ml-1.5 font-normal text-soft">You</span> : null}
      {name ? (
        <span className="font-normal text-soft text-xs">
          <WholeAddress>{email}</WholeAddress>
        </span>
      ) : null}
    </span>
  );
}

function MemberMenu({ member, canManage, canManageOwners, onAction }: MemberProps & { member: MemberRow }) {
  const canChange = member.role === "owner" ? canManageOwners : canManage;
  const act = (kind: MemberAction["kind"]) => () => onAction({ kind, member });
  const items: MenuItem[] = [];
  if (canChange) items.push({ label: "Change role…", Icon: UserCog, onSelect: act("role") });
  if (member.isSelf) items.push({ label: "Leave team…", Icon: LogOut, tone: "bad", onSelect: act("leave") });
  else if (canChange)
    items.push({ label: "Remove from team…", Icon: UserMinus, tone: "bad", onSelect: act("remove") });
  return items.length === 0 ? null : <Menu label={`Actions for ${member.email}`} items={items} />;
}

export type InvitationAction = { kind: "renew" | "withdraw"; invitation: InvitationResponse };

type InvitationProps = { canManageOwners: boolean; onAction: (run: InvitationAction) => void };

/** The columns of the pending invitations. */
export const invitationColumns = ({
  canManageOwners,
  onAction,
}: InvitationProps): Column<InvitationResponse>[] => [
  { header: "Email address", cell: ({ email }) => <WholeAddress>{email}</WholeAddress> },
  { header: "Role", width: "w-28", cell: ({ role }) => <RoleBadge role={role} /> },
  {
    header: "Invited by",
    width: "w-44 xl:w-60",
    cell: ({ invited_by }) => (
      <span className="text-soft">
        {invited_by ? <WholeAddress>{invited_by}</WholeAddress> : "The operator"}
      </span>
    ),
  },
  timeColumn("Sent", ({ linked_at }) => linked_at, { width: "w-32", isWide: true }),
  {
    header: "Expires",
    width: "w-32",
    cell: ({ expires_at, is_expired }) =>
      is_expired ? <Badge tone="warn">Expired</Badge> : <When isDue at={expires_at} className="text-soft" />,
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

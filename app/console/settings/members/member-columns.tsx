import { LogOut, ShieldCheck, UserCog, UserMinus } from "lucide-react";
import type { MemberRow } from "#server/trpc/members/members";
import { Menu, type MenuItem } from "../../_ui/dialog/menu";
import { type Column, MENU_COLUMN } from "../../_ui/list/data-table";
import { When } from "../../_ui/text/when";
import { RoleBadge } from "./roles";

export type MemberAction = { kind: "role" | "remove" | "leave"; member: MemberRow };

type ActionProps = { canManage: boolean; canManageOwners: boolean; onAction: (run: MemberAction) => void };

/** The columns of the member list. The menu contains only actions that the role of the user permits. */
export const memberColumns = (actionProps: ActionProps): Column<MemberRow>[] => [
  { id: "person", header: "Member", cell: (member) => <Person member={member} /> },
  { id: "role", header: "Role", width: "w-28", cell: ({ role }) => <RoleBadge role={role} /> },
  {
    id: "2fa",
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
  {
    id: "joined",
    header: "Joined",
    width: "w-32",
    cell: ({ joined_at }) => <When at={joined_at} className="text-soft" />,
  },
  {
    id: "seen",
    header: "Last active",
    width: "w-32",
    cell: ({ last_seen_at }) =>
      last_seen_at ? (
        <When at={last_seen_at} className="text-soft" />
      ) : (
        <span className="text-soft">Never</span>
      ),
  },
  { ...MENU_COLUMN, cell: (member) => <MemberMenu member={member} {...actionProps} /> },
];

function Person({ member: { email, name, is_self } }: { member: MemberRow }) {
  return (
    <span className="flex min-w-0 flex-col">
      <span className="truncate" title={email}>
        {name ?? email}
        {is_self ? <span className="ml-1.5 font-normal text-soft">you</span> : null}
      </span>
      {name ? (
        <span className="truncate font-normal text-soft text-xs" title={email}>
          {email}
        </span>
      ) : null}
    </span>
  );
}

function MemberMenu({ member, canManage, canManageOwners, onAction }: ActionProps & { member: MemberRow }) {
  const canChange = member.role === "owner" ? canManageOwners : canManage;
  const act = (kind: MemberAction["kind"]) => () => onAction({ kind, member });
  const items: MenuItem[] = [];
  if (canChange) items.push({ label: "Change role…", Icon: UserCog, onSelect: act("role") });
  if (member.is_self) items.push({ label: "Leave team…", Icon: LogOut, tone: "bad", onSelect: act("leave") });
  else if (canChange)
    items.push({ label: "Remove from team…", Icon: UserMinus, tone: "bad", onSelect: act("remove") });
  return items.length === 0 ? null : <Menu label={`Actions for ${member.email}`} items={items} />;
}

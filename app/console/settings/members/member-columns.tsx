import { LogOut, ShieldCheck, UserCog, UserMinus } from "lucide-react";
import type { MemberRow } from "#server/trpc/member-views";
import { Badge } from "../../_ui/badge";
import type { Column } from "../../_ui/data-table";
import { Menu, type MenuItem } from "../../_ui/menu";
import { When } from "../../_ui/when";
import { ROLE_WORDS } from "./roles";

export type MemberAct = { kind: "role" | "remove" | "leave"; member: MemberRow };

type Offers = { mayManage: boolean; mayManageOwners: boolean; onAct: (act: MemberAct) => void };

/** The list's columns. What the reader's role cannot do to somebody is not offered. */
export const memberColumns = (offers: Offers): Column<MemberRow>[] => [
  {
    id: "person",
    header: "Person",
    cell: (member) => <Person member={member} />,
  },
  {
    id: "role",
    header: "Role",
    width: "w-28",
    cell: ({ role }) => (
      <Badge tone={ROLE_WORDS[role].tone} title={ROLE_WORDS[role].hint}>
        {ROLE_WORDS[role].label}
      </Badge>
    ),
  },
  {
    id: "factor",
    header: "Second factor",
    width: "w-36",
    cell: ({ hasSecondFactor }) =>
      hasSecondFactor ? (
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
    cell: ({ joinedAt }) => <When at={joinedAt} className="text-soft" />,
  },
  {
    id: "seen",
    header: "Last seen",
    width: "w-32",
    cell: ({ lastSeenAt }) =>
      lastSeenAt ? <When at={lastSeenAt} className="text-soft" /> : <span className="text-soft">Never</span>,
  },
  {
    id: "acts",
    header: "Actions",
    width: "w-16",
    align: "right",
    phone: "corner",
    isActive: true,
    isHeaderHidden: true,
    cell: (member) => <MemberMenu member={member} {...offers} />,
  },
];

function Person({ member }: { member: MemberRow }) {
  return (
    <span className="flex min-w-0 flex-col">
      <span className="truncate" title={member.email}>
        {member.name ?? member.email}
        {member.isSelf ? <span className="ml-1.5 font-normal text-soft">you</span> : null}
      </span>
      {member.name ? (
        <span className="truncate font-normal text-soft text-xs" title={member.email}>
          {member.email}
        </span>
      ) : null}
    </span>
  );
}

function MemberMenu({ member, mayManage, mayManageOwners, onAct }: Offers & { member: MemberRow }) {
  const mayHandle = member.role === "owner" ? mayManageOwners : mayManage;
  const items: MenuItem[] = [
    ...(mayHandle
      ? [{ label: "Change the role…", Icon: UserCog, onSelect: () => onAct({ kind: "role", member }) }]
      : []),
    ...(member.isSelf
      ? [
          {
            label: "Leave the team…",
            Icon: LogOut,
            tone: "bad" as const,
            onSelect: () => onAct({ kind: "leave", member }),
          },
        ]
      : mayHandle
        ? [
            {
              label: "Remove from the team…",
              Icon: UserMinus,
              tone: "bad" as const,
              onSelect: () => onAct({ kind: "remove", member }),
            },
          ]
        : []),
  ];
  return items.length === 0 ? null : <Menu label={`Actions for ${member.email}`} items={items} />;
}

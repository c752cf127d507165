import { Bot, Terminal, UserRound } from "lucide-react";
import type { ChangeRow } from "#server/trpc/activity-views";
import type { Column } from "../_ui/data-table";
import { When } from "../_ui/when";
import { SubjectLink } from "./subject-link";

export const CHANGE_COLUMNS: readonly Column<ChangeRow>[] = [
  { id: "what", header: "What", width: "w-72", cell: ({ words }) => words },
  {
    id: "subject",
    header: "Of what",
    phone: "plain",
    isActive: true,
    cell: (change) => <SubjectLink change={change} />,
  },
  {
    id: "who",
    header: "Who",
    width: "w-64",
    phone: "plain",
    cell: (change) => <Who change={change} />,
  },
  {
    id: "when",
    header: "When",
    width: "w-28",
    align: "right",
    phone: "corner",
    cell: ({ createdAt }) => <When at={createdAt} className="text-soft text-xs" />,
  },
];

const SIGNS = { user: UserRound, key: Bot, operator: Terminal };

/** Who did it, by the name that they had then; the sign tells people from programs. */
export function Who({ change: { actor, actorName } }: { change: ChangeRow }) {
  const Sign = SIGNS[actor];
  const name = actor === "operator" ? "Command line" : (actorName ?? "Somebody who is gone");
  return (
    <span className="flex min-w-0 items-baseline gap-2 text-soft" title={name}>
      <Sign className="size-4 shrink-0 self-center" aria-hidden="true" />
      <span className="truncate">
        {actor === "key" ? <span className="sr-only">API key </span> : null}
        {name}
      </span>
    </span>
  );
}

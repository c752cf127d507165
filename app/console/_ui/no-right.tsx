"use client";

import { Lock } from "lucide-react";
import type { Right } from "#server/roles";
import { Empty } from "./empty";
import { useMay, useTeam } from "./team";

/** What stands where the reader's role does not reach, in place of the page or a part of it. `what`: "see the audit log". */
export function NoRight({ what }: { what: string }) {
  return (
    <Empty icon={Lock} title="Not for your role">
      <p>{useLack()(what)}</p>
    </Empty>
  );
}

/**
 * Why an offer is closed to the reader, as `ActButton` tells it; undefined where it is open to them:
 * `const whyNot = useWhyNot()("keys:write", "create keys")`.
 */
export function useWhyNot(): (right: Right, what: string) => string | undefined {
  const may = useMay();
  const sayLack = useLack();
  return (right, what) => (may(right) ? undefined : sayLack(what));
}

function useLack(): (what: string) => string {
  const { team } = useTeam();
  return (what) =>
    `Your role in this team is ${team?.role ?? "none"}, which may not ${what}. Ask an owner or an admin of the team.`;
}

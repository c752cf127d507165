"use client";

import { Lock } from "lucide-react";
import type { Permission } from "#server/shared/roles";
import { Empty } from "../list/empty";
import { useCan, useTeam } from "../team";

/**
 * Replaces a page or a part of it when the user's role lacks the permission. `what`: "view the audit log".
 */
export const NoPermission = ({ what }: { what: string }) => (
  <Empty icon={Lock} title="Permission required">
    <p>{useMissingPermission()(what)}</p>
  </Empty>
);

/**
 * Why an action is unavailable to the user, for `ActionButton`; undefined when it is available:
 * `const disabledReason = useDisabledReason()("keys:write", "create keys")`.
 */
export function useDisabledReason(): (permission: Permission, what: string) => string | undefined {
  const can = useCan();
  const describeMissing = useMissingPermission();
  return (permission, what) => (can(permission) ? undefined : describeMissing(what));
}

function useMissingPermission(): (what: string) => string {
  const { team } = useTeam();
  return (what) =>
    `Your role in this team is ${team?.role ?? "none"}, which cannot ${what}. Ask an owner or admin of the team.`;
}

import type { ReactNode } from "react";
import { SkeletonTable } from "../../_ui/list/skeleton";

export default function MembersLoading() {
  return (
    <>
      <MembersHeading actions={<div className="h-10" />} />
      <SkeletonTable rows={4} />
    </>
  );
}

/** The heading of the list, also shown while the list loads. */
export function MembersHeading({ actions }: { actions: ReactNode }) {
  return (
    <div className="mb-4 flex min-h-10 flex-wrap items-center justify-between gap-x-6 gap-y-3">
      <div>
        <h2 className="font-semibold text-base">Members</h2>
        <p className="text-soft leading-6">The members of this team and their roles.</p>
      </div>
      {actions}
    </div>
  );
}

import type { ReactNode } from "react";

/** The head of the list, which its loading state draws too. */
export function MembersHeading({ actions }: { actions: ReactNode }) {
  return (
    <div className="mb-4 flex min-h-10 flex-wrap items-center justify-between gap-x-6 gap-y-3">
      <div>
        <h2 className="font-semibold text-base">Members</h2>
        <p className="text-soft leading-6">Who is in this team, and what they may do.</p>
      </div>
      {actions}
    </div>
  );
}

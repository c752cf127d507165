import { ChevronsUpDown } from "lucide-react";

export const accountButtonStyle =
  "flex h-11 w-full min-w-0 items-center gap-2.5 rounded-lg px-2 text-left text-soft hover:bg-mute-tint hover:text-ink motion-safe:transition-colors md:h-10";

/** The face of the account button, the same before and after the code of the menu is loaded. */
export function AccountButtonFace({ email }: { email: string }) {
  return (
    <>
      <span
        aria-hidden="true"
        className="grid size-6 shrink-0 place-items-center rounded-full bg-info-tint font-semibold text-info text-xs uppercase"
      >
        {[...email][0]}
      </span>
      <span className="truncate">{email}</span>
      <ChevronsUpDown className="ml-auto size-4 shrink-0" aria-hidden="true" />
    </>
  );
}

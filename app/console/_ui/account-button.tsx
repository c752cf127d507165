import { ChevronsUpDown } from "lucide-react";
import { buttonStyle } from "./styles";

export const accountButtonStyle = `${buttonStyle.quiet} h-10 min-w-0 max-w-full justify-between text-left`;

/** What the account's button shows, before and after its menu has come. */
export function AccountButtonFace({ email }: { email: string }) {
  return (
    <>
      <span className="truncate">{email}</span>
      <ChevronsUpDown className="size-4 shrink-0" aria-hidden="true" />
    </>
  );
}

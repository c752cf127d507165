import type { Metadata } from "next";
import { CallProvider } from "../console/_ui/providers";
import { InvitePage } from "./invite-page";

export const metadata: Metadata = { title: "Invitation", referrer: "no-referrer" };

/** Where the link of an invitation leads. Opening it spends nothing: what it says stands behind the # of the address. */
export default function Invite() {
  return (
    <CallProvider>
      <InvitePage />
    </CallProvider>
  );
}

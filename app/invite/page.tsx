import type { Metadata } from "next";
import { CallProvider } from "../console/_ui/shell/providers";
import { InvitePage } from "./invite-page";

export const metadata: Metadata = { title: "Invitation", referrer: "no-referrer" };

/**
 * The target of an invitation link. Opening it does not use the invitation. The token is in the URL fragment.
 */
export default function Invite() {
  return (
    <CallProvider>
      <InvitePage />
    </CallProvider>
  );
}

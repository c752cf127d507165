import { signOut } from "../../auth-client";
import { sayFault } from "./toasts";

/** Ends the session, and leaves by a load of its own so that nothing of it stays in memory. Stays, and says why, where it goes on. */
export async function leaveConsole(): Promise<void> {
  const said = await signOut();
  if (said !== null) return sayFault({ message: said, code: null, requestId: null });
  window.location.assign("/login");
}

import { signOut } from "../../auth-client";

/** Ends the session, and leaves by a load of its own so that nothing of it stays in memory. */
export async function leaveConsole(): Promise<void> {
  await signOut().catch(() => {});
  window.location.assign("/login");
}

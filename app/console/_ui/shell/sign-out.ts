import { signOut } from "../../../auth-client";
import { loadPage } from "../connection/connection";
import { showError } from "../dialog/toasts";

/**
 * Ends the session and opens the sign-in page with a full page load, which clears all data from memory. If
 * signing out fails, the page stays and shows the error.
 */
export async function signOutOfConsole(): Promise<void> {
  const message = await signOut();
  if (message !== null) return showError({ message, code: null, requestId: null });
  await loadPage("/login");
}

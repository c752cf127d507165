import { createStore } from "../connection/store";

/** The channel between windows on which a new sign-in is reported. */
export const SIGNED_IN_CHANNEL = "backstamp.signed-in";

/**
 * Whether the session of this page has ended: a call was rejected for it, and the user has not signed in
 * again.
 */
export const { set: setSignedOut, use: useSignedOut } = createStore(false);

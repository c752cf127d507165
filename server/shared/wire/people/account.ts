import type { passkeys } from "#db/schema/account";
import type { sessions } from "#db/schema/teams";
import type { WithIsoTimes } from "../shapes";

/** An active session. `agent` is the browser in words, such as "Firefox on Linux". */
export type OpenSession = Pick<
  typeof sessions.$inferSelect,
  "id" | "address" | "createdAt" | "lastSeenAt"
> & { agent: string };

export type Passkey = Pick<
  typeof passkeys.$inferSelect,
  "id" | "name" | "isSynced" | "createdAt" | "lastUsedAt"
>;

export type PasskeyView = WithIsoTimes<Passkey>;

import type { WithIsoTimes } from "../shapes";

/** An active session. `agent` is the browser in words, such as "Firefox on Linux". */
export type OpenSession = {
  id: string;
  agent: string;
  address: string | null;
  createdAt: Date;
  lastSeenAt: Date;
};

export type Passkey = {
  id: string;
  name: string;
  /** Whether it can be synced to several devices through a cloud account. */
  isSynced: boolean;
  createdAt: Date;
  lastUsedAt: Date | null;
};

export type PasskeyView = WithIsoTimes<Passkey>;

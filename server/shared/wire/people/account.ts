import { presentRow } from "../shapes";

/** An active session. `agent` is the browser in words, such as "Firefox on Linux". */
export type OpenSession = {
  id: string;
  agent: string;
  address: string | null;
  createdAt: Date;
  lastSeenAt: Date;
};

/** A session as in the console. */
export const presentSession = (session: OpenSession) => presentRow(session);

export type Passkey = {
  id: string;
  name: string;
  /** Whether it can be synced to several devices through a cloud account. */
  isSynced: boolean;
  createdAt: Date;
  lastUsedAt: Date | null;
};

/** A passkey as in the console, without its key. */
export const presentPasskey = (passkey: Passkey) => presentRow(passkey);
export type PasskeyResponse = ReturnType<typeof presentPasskey>;

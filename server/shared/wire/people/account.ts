/** An active session. `agent` is the browser in words, such as "Firefox on Linux". */
export type OpenSession = {
  id: string;
  agent: string;
  address: string | null;
  createdAt: Date;
  lastSeenAt: Date;
};

/** A session as in the console. */
export const presentSession = ({ createdAt, lastSeenAt, ...session }: OpenSession) => ({
  ...session,
  created_at: createdAt.toISOString(),
  last_seen_at: lastSeenAt.toISOString(),
});

export type Passkey = {
  id: string;
  name: string;
  /** Whether it can be synced to several devices through a cloud account. */
  isSynced: boolean;
  createdAt: Date;
  lastUsedAt: Date | null;
};

/** A passkey as in the console, without its key. */
export const presentPasskey = ({ id, name, isSynced, createdAt, lastUsedAt }: Passkey) => ({
  id,
  name,
  is_synced: isSynced,
  created_at: createdAt.toISOString(),
  last_used_at: lastUsedAt?.toISOString() ?? null,
});
export type PasskeyResponse = ReturnType<typeof presentPasskey>;

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

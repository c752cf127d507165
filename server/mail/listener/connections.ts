import type { SMTPServerSession } from "smtp-server";

export type ConnectionRules = {
  max: number;
  /** Maximum per client address. */
  perAddressMax: number;
  /** A client must send EHLO or HELO within this time. */
  firstCommandMs: number;
  /** Closes a connection with reply code 421. */
  end(session: SMTPServerSession, reply: string): void;
};

/**
 * The open connections; report each step towards a message with `recordProgress`. Prevents a few clients from
 * occupying all slots with idle connections. Commands that do not lead to a message, such as NOOP, do not
 * reset the idle order.
 */
export function createConnections({ max, perAddressMax, firstCommandMs, end }: ConnectionRules) {
  /** Ordered by last progress, the longest idle first. */
  const open = new Map<SMTPServerSession, { isBusy: boolean; firstCommand: NodeJS.Timeout }>();

  const countConnections = (address: string) => {
    let count = 0;
    for (const { remoteAddress } of open.keys()) if (remoteAddress === address) count++;
    return count;
  };
  const remove = (session: SMTPServerSession) => {
    clearTimeout(open.get(session)?.firstCommand);
    open.delete(session);
  };
  const closeLongestIdle = (): boolean => {
    for (const [session, { isBusy }] of open) {
      if (isBusy) continue;
      remove(session);
      end(session, "4.7.0 Idle for too long while other clients wait, try again later");
      return true;
    }
    return false;
  };
  const recordProgress = (session: SMTPServerSession) => {
    const state = open.get(session);
    if (!state) return;
    open.delete(session);
    open.set(session, state);
  };
  return {
    /**
     * Whether to accept the connection. At the limit, the connection that has been idle longest is closed to
     * free a slot.
     */
    admit(session: SMTPServerSession): boolean {
      if (countConnections(session.remoteAddress) >= perAddressMax) return false;
      if (open.size >= max && !closeLongestIdle()) return false;
      const firstCommand = setTimeout(() => {
        if (!session.openingCommand) end(session, "4.4.2 No command received, closing the connection");
      }, firstCommandMs).unref();
      open.set(session, { isBusy: false, firstCommand });
      return true;
    },
    recordProgress,
    /** A busy connection is transferring a message and is never closed to free a slot. */
    setBusy(session: SMTPServerSession, isBusy: boolean): void {
      const state = open.get(session);
      if (state) state.isBusy = isBusy;
      recordProgress(session);
    },
    remove,
  };
}

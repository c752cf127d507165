import { connect, type Socket } from "node:net";

/** Delay before a connection to the next address of a host starts in parallel (RFC 8305). */
const NEXT_ADDRESS_MS = 1_000;

/**
 * Opens a TCP connection, trying all addresses of the host. Rejects with the system's error, a timeout error,
 * or the signal's reason.
 */
export function dial(host: string, port: number, timeoutMs: number, signal: AbortSignal): Promise<Socket> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason);
    const socket = connect({
      host,
      port,
      autoSelectFamily: true,
      autoSelectFamilyAttemptTimeout: NEXT_ADDRESS_MS,
    });
    const fail = (error: unknown) => {
      settle();
      socket.on("error", () => {});
      socket.destroy();
      reject(error);
    };
    const onAbort = () => fail(signal.reason);
    const timer = setTimeout(() => fail(new Error(`no connection within ${timeoutMs / 1000} s`)), timeoutMs);
    const settle = () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", onAbort);
      socket.removeListener("error", fail);
    };
    signal.addEventListener("abort", onAbort, { once: true });
    socket.once("error", fail);
    socket.once("connect", () => {
      settle();
      socket.setNoDelay(true);
      resolve(socket);
    });
  });
}

import { once } from "node:events";
import { type AddressInfo, createServer, type Server } from "node:net";

/**
 * Ports below those that systems give to connections and to servers that ask for any port, so that nothing
 * takes one in passing.
 */
const first = 20_000;
const count = 10_000;

// Test processes begin at different ports.
let next = (process.pid * 101) % count;

/**
 * Opens servers that need the same port: for UDP and TCP, or at several addresses. `open` is called with one
 * port after another until all of them are free; it closes what it opened before it rejects.
 */
export async function openOnFreePort<T>(open: (port: number) => Promise<T>): Promise<T> {
  for (let tried = 0; ; tried++) {
    next = (next + 1) % count;
    try {
      return await open(first + next);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EADDRINUSE" || tried > count) throw error;
    }
  }
}

/**
 * A port for a program that cannot choose one itself. Nothing listens on it now, and what asks for any port
 * does not get it later.
 */
export const freePort = (): Promise<number> =>
  openOnFreePort(async (port) => {
    const probe = createServer().listen(port, "127.0.0.1");
    await once(probe, "listening");
    probe.close();
    await once(probe, "close");
    return port;
  });

/** Lets a server listen on any free loopback port, which is returned. */
export async function listenOnLoopback(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return (server.address() as AddressInfo).port;
}

import { once } from "node:events";
import { createServer, type Socket } from "node:net";
import { listenOnLoopback } from "./free-port";

export type SilentTestServer = { port: number; connections(): number; stop(): Promise<void> };

/** A loopback port that accepts every connection and never sends a byte. */
export async function startSilentTestServer(): Promise<SilentTestServer> {
  const sockets = new Set<Socket>();
  let connections = 0;
  const server = createServer((socket) => {
    connections += 1;
    sockets.add(socket);
    socket.on("error", () => undefined);
    socket.on("close", () => sockets.delete(socket));
    socket.resume();
  });
  const port = await listenOnLoopback(server);
  return {
    port,
    connections: () => connections,
    async stop() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, "close");
    },
  };
}

import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo, Socket } from "node:net";
import { makeCertificate } from "../support/servers/certificate";

/** The rest of the world, as a browser's proxy. */
export type OtherHosts = {
  /** What the browser is to take as its proxy. It reaches loopback addresses without one. */
  url: string;
  /** Addresses on other hosts that something asked for, in turn. */
  addresses: string[];
  stop: () => void;
};

/**
 * Stands where every other host would be, and answers nothing: 204, which leaves a document that goes there where it is.
 * A proxy and not an interception of the browser's requests: those turn its cache off, so that every page would be fetched
 * and compiled anew. Whoever connects over TLS gets a certificate that only a browser told to ignore it takes.
 */
export async function startOtherHosts(): Promise<OtherHosts> {
  const addresses: string[] = [];
  const sockets = new Set<Socket>();
  const answer = (protocol: string) => (request: IncomingMessage, response: ServerResponse) => {
    addresses.push(new URL(request.url ?? "/", `${protocol}://${request.headers.host}`).href);
    response.writeHead(204).end();
  };
  const tlsServer = createTlsServer(makeCertificate({ names: ["elsewhere.invalid"] }), answer("https"));
  const proxy = createServer(answer("http"));
  proxy.on("connection", (socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
  });
  proxy.on("connect", (_, socket: Socket) => {
    // A page that is closed in the middle of its request resets it.
    socket.on("error", () => socket.destroy());
    socket.write("HTTP/1.1 200 Connection established\r\n\r\n");
    tlsServer.emit("connection", socket);
  });
  await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`,
    addresses,
    stop: () => {
      proxy.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

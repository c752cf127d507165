import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo, Socket } from "node:net";
import { makeCertificate } from "../support/servers/certificate";

/** A proxy in place of all other hosts. */
export type OtherHosts = {
  /** The proxy setting for the browser. Loopback addresses are reached without it. */
  url: string;
  /** Requested URLs on other hosts, in order. */
  addresses: string[];
  stop: () => void;
};

/**
 * Starts a proxy that responds to every request with 204, which leaves the requesting document in place. A
 * proxy is used because intercepting requests in the browser disables its cache, so that every page would be
 * fetched and compiled again. TLS connections get a certificate that only a browser with certificate checks
 * disabled accepts.
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
    // A page that is closed during its request resets the connection.
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

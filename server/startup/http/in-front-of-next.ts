import { subscribe } from "node:diagnostics_channel";
import { Server } from "node:http";
import type { Socket } from "node:net";
import { findPageFault, rejectPage } from "./page-faults";
import type { RestApi } from "./rest-endpoint";
import { findRouterStateFault } from "./router-state";
import { rejectNonRequests } from "./unparsable";

/**
 * Where `next start` owns the HTTP server: answers, in the API's format, what Next would answer with an empty
 * 400 or 500 before any of our code runs. Next offers no access to its server, so it is found by its first
 * connection.
 */
export function answerInFrontOfNext(rest: Promise<RestApi>): void {
  const known = new WeakSet<Server>();
  subscribe("net.server.socket", (message) => {
    const { server } = (message as { socket: Socket & { server?: unknown } }).socket;
    if (!(server instanceof Server) || known.has(server)) return;
    known.add(server);
    rejectNonRequests(server, rest);
    const listeners = server.listeners("request");
    server.removeAllListeners("request");
    server.on("request", (incoming, outgoing) => {
      const url = incoming.url === "*" ? "*" : "/";
      const fault = findPageFault({ method: incoming.method, url }) ?? findRouterStateFault(incoming);
      if (fault) void rejectPage(incoming, outgoing, rest, fault).catch(() => outgoing.destroy());
      else for (const listener of listeners) listener.call(server, incoming, outgoing);
    });
  });
}

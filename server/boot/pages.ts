import { readFile } from "node:fs/promises";
import { Server } from "node:http";
import path from "node:path";
import { errorFacts, type Log } from "#server/log";
import { markPeer } from "./next";
import type { Pages } from "./node";

/** The pages of Next in this process; `close` ends its compiler and watchers. */
export type NextPages = { pages: Promise<Pages>; close(): Promise<void> };

/**
 * Prepares Next beside the REST door, which does not wait for it. Where that fails, pages say so and the rest of the
 * service goes on.
 */
export function startPages(options: {
  isDev: boolean;
  folder: string;
  host: string;
  port: number;
  log: Log;
}): NextPages {
  // Next attaches its listener for upgrades to a server that it is given; only our own door decides what reaches it.
  const upgrades = new Server();
  const starting = (async () => {
    if (options.isDev) await refuseSecondCompiler(options.folder);
    const { default: next } = await import("next");
    const app = next({
      dev: options.isDev,
      dir: options.folder,
      hostname: options.host,
      port: options.port,
      httpServer: upgrades,
      quiet: true,
    });
    await app.prepare();
    return app;
  })();
  const pages = starting.then(
    (app): Pages => {
      const handle = app.getRequestHandler();
      return {
        request: (incoming, outgoing) => {
          markPeer(incoming);
          return handle(incoming, outgoing);
        },
        upgrade: (incoming, socket, head) => {
          if (!upgrades.emit("upgrade", incoming, socket, head)) socket.destroy();
        },
      };
    },
    (error): Pages => {
      options.log.error("pages.failed", {
        ...errorFacts(error),
        message: error instanceof Error ? error.message : "",
      });
      return {
        request: (_, outgoing) => {
          outgoing.writeHead(503, { "content-type": "text/plain; charset=utf-8" });
          outgoing.end("The pages could not be started; the log says why. The REST API under /api works.\n");
        },
      };
    },
  );
  return {
    pages,
    close: async () => {
      const app = await starting.catch(() => null);
      await app?.close();
    },
  };
}

/** Where the production build says that it is complete. */
export const buildFileOf = (folder: string): string => path.join(folder, ".next", "BUILD_ID");

// Next's compiler ends the whole process when another one works in the same folder; mail must not depend on that.
async function refuseSecondCompiler(folder: string): Promise<void> {
  const text = await readFile(path.join(folder, ".next", "dev", "lock"), "utf8").catch(() => "");
  const [, pid] = /"pid":\s*(\d+)/.exec(text) ?? [];
  if (pid === undefined || Number(pid) === process.pid) return;
  try {
    process.kill(Number(pid), 0);
  } catch {
    return;
  }
  throw new Error(`Process ${pid} compiles the pages of this folder already. Stop it to have them here.`);
}

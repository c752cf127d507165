import { readFile } from "node:fs/promises";
import { type IncomingMessage, Server, type ServerResponse } from "node:http";
import path from "node:path";
import { errorFacts, type Log } from "#server/log";
import { markPeer } from "./next";
import type { Pages } from "./node";

/** Next in this process. */
export type NextPages = Pages & {
  /** Resolves when pages can be answered, or cannot for good. The first request asks for it, too. Never rejects. */
  prepare(): Promise<void>;
  /** Ends its compiler and watchers. */
  close(): Promise<void>;
};

export type PagesOptions = {
  isDev: boolean;
  folder: string;
  host: string;
  port: number;
  log: Log;
  /** Next is not begun before: its handlers expect the effects of this process. */
  after: Promise<unknown>;
};

type NextApp = {
  handle(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void>;
  close(): Promise<void>;
};

/** The pages, prepared on demand. Where that fails they say so, and the rest of the service goes on. */
export function openPages(options: PagesOptions): NextPages {
  // Next attaches its listener for upgrades to a server that it is given; only our own door decides what reaches it.
  const upgrades = new Server();
  let starting: Promise<NextApp | null> | undefined;

  const start = async (): Promise<NextApp | null> => {
    try {
      await options.after;
      if (options.isDev) await refuseSecondCompiler(options.folder);
      // Node would keep the source maps of all that Next consists of: tens of megabytes for lines that nobody reads.
      else process.setSourceMapsEnabled(false);
      const { default: next } = await import("next");
      const app = next({
        dev: options.isDev,
        dir: options.folder,
        hostname: options.host,
        port: options.port,
        httpServer: upgrades,
      });
      await app.prepare();
      const handle = app.getRequestHandler();
      return { handle: (incoming, outgoing) => handle(incoming, outgoing), close: () => app.close() };
    } catch (error) {
      const message = error instanceof Error ? error.message : "";
      options.log.error("pages.failed", { ...errorFacts(error), message });
      return null;
    } finally {
      process.setSourceMapsEnabled(true);
    }
  };
  const started = (): Promise<NextApp | null> => {
    starting ??= start();
    return starting;
  };

  return {
    async request(incoming, outgoing) {
      const app = await started();
      if (!app) return refuse(outgoing);
      markPeer(incoming);
      await app.handle(incoming, outgoing);
    },
    async upgrade(incoming, socket, head) {
      await started();
      markPeer(incoming);
      if (!upgrades.emit("upgrade", incoming, socket, head)) socket.destroy();
    },
    async prepare() {
      await started();
    },
    async close() {
      await (await starting)?.close();
    },
  };
}

/** Where the production build says that it is complete. */
export const buildFileOf = (folder: string): string => path.join(folder, ".next", "BUILD_ID");

function refuse(outgoing: ServerResponse): void {
  outgoing.writeHead(503, { "content-type": "text/plain; charset=utf-8" });
  outgoing.end("The pages could not be started; the log says why. The REST API under /api works.\n");
}

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

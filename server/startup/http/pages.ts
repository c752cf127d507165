import { mkdir, readFile } from "node:fs/promises";
import { type IncomingMessage, Server, type ServerResponse } from "node:http";
import path from "node:path";
import { errorFacts, type Log } from "#server/platform/log";
import { acquireLock } from "../launcher/lock";
import { setPeerHeader } from "../next";
import type { Pages } from "./node";

/** Next in this process. */
export type NextPages = Pages & {
  /**
   * Resolves when Next is ready or has failed permanently. The first request also starts it. Never rejects.
   */
  prepare(): Promise<void>;
  /** Stops Next's compiler and watchers. */
  close(): Promise<void>;
};

export type PagesOptions = {
  isDev: boolean;
  folder: string;
  host: string;
  port: number;
  log: Log;
  /** Next starts after this resolves, because its handlers require the dependencies of this process. */
  after: Promise<unknown>;
};

type NextApp = {
  handle(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void>;
  close(): Promise<void>;
};

/**
 * As Next's standalone server, this one gives Next the configuration of the build. Else Next would load its
 * compiler, 23 MB, to read `next.config.ts` again.
 */
const BUILT_CONFIG = "__NEXT_PRIVATE_STANDALONE_CONFIG";

/**
 * The pages, prepared on demand. If preparation fails, they respond with 503 and the other parts continue.
 */
export function openPages(options: PagesOptions): NextPages {
  // Next attaches its upgrade listener to this unused server. The HTTP server decides which upgrades it gets.
  const upgrades = new Server();
  let starting: Promise<NextApp | null> | undefined;

  const start = async (): Promise<NextApp | null> => {
    try {
      await options.after;
      if (options.isDev) await lockCompiler(options.folder);
      else {
        // Otherwise Node keeps the source maps of all of Next's modules in memory: tens of megabytes.
        process.setSourceMapsEnabled(false);
        process.env[BUILT_CONFIG] = await readBuiltConfig(options.folder);
      }
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
      delete process.env[BUILT_CONFIG];
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
      setPeerHeader(incoming);
      await app.handle(incoming, outgoing);
    },
    async upgrade(incoming, socket, head) {
      await started();
      setPeerHeader(incoming);
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

/** The file that marks a complete production build. */
export const buildFileOf = (folder: string): string => path.join(folder, ".next", "BUILD_ID");

async function readBuiltConfig(folder: string): Promise<string> {
  const file = path.join(folder, ".next", "required-server-files.json");
  return JSON.stringify(JSON.parse(await readFile(file, "utf8")).config);
}

function refuse(outgoing: ServerResponse): void {
  outgoing.writeHead(503, { "content-type": "text/plain; charset=utf-8" });
  outgoing.end(
    "The pages could not be started. See the log for the reason. The REST API under /api is available.\n",
  );
}

// Next's compiler exits the whole process if another one runs in the same folder. Delivery must not depend on
// that.
async function lockCompiler(folder: string): Promise<void> {
  // Next deletes what else is in the folder above when it starts.
  const cache = path.join(folder, ".next", "dev", "cache");
  // The lock would make them for their owner alone, but others read what a build adds to `.next`.
  await mkdir(cache, { recursive: true });
  const taken = await acquireLock(cache, "pages");
  if ("lock" in taken) return;
  throw new Error(`Process ${taken.holder.pid} already compiles the pages of this folder. Stop it first.`);
}

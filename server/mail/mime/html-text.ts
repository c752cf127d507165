import { availableParallelism } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { Tinypool } from "tinypool";
import type { Log } from "#server/platform/log";
import { convertHtml, stripTags } from "./convert-html.mjs";
import { createTeamTurns } from "./team-turns";

/**
 * Converts an HTML body to plain text for a team; "" if it contains no text. Never rejects. Waiting teams
 * take turns. The same HTML gives the same text unless a conversion reaches its time limit: a caller that
 * needs the text again must store it.
 */
export type ConvertToText = (teamId: string, html: string) => Promise<string>;

export type TextConverter = ReturnType<typeof createTextConverter>;

/**
 * HTML of up to this many characters is converted on the main thread, which takes a few milliseconds at most.
 */
export const shortHtmlChars = 8_000;
const timeLimitMsDefault = 5_000;
const threadsMax = 4;
/** An idle thread ends after this time to free its memory. */
const idleMs = 30_000;
const heapMb = 256;

// Not `new URL(…)`: bundlers would treat the file as an asset of the web site.
const threadFile = path.join(path.dirname(fileURLToPath(import.meta.url)), "convert-html.mjs");

/**
 * Converts HTML in threads, because a large newsletter would block the event loop. A conversion that reaches
 * its time limit is stopped together with its thread. The result is then that of `stripTags`, also if no
 * thread can be started.
 */
export function createTextConverter(options: {
  log: Log;
  /** Time limit of one conversion, including the start of its thread. */
  timeLimitMs?: number;
}) {
  const { log, timeLimitMs = timeLimitMsDefault } = options;
  const threads = Math.max(1, Math.min(threadsMax, availableParallelism() - 1));
  const inTurn = createTeamTurns(threads);
  let pool: Tinypool | null = null;

  const convert = async (html: string): Promise<string> => {
    const signal = AbortSignal.timeout(timeLimitMs);
    try {
      pool ??= openPool(threads);
      return await pool.run(html, { name: "convertHtml", signal });
    } catch (error) {
      if (signal.aborted) log.warn("html_text.time_limit", { htmlChars: html.length, timeLimitMs });
      else log.error("html_text.thread_failed", { code: codeOf(error) });
      return stripTags(html);
    }
  };
  return {
    convertToText: async (teamId: string, html: string): Promise<string> =>
      html.length <= shortHtmlChars ? convertHtml(html) : inTurn(teamId, () => convert(html)),
    close: async () => {
      await pool?.destroy();
      pool = null;
    },
  };
}

function openPool(threads: number): Tinypool {
  const pool = new Tinypool({
    filename: threadFile,
    minThreads: 0,
    maxThreads: threads,
    idleTimeout: idleMs,
    useAtomics: false,
    // Threads need neither the loaders nor the secrets of the process.
    execArgv: [],
    env: {},
    resourceLimits: { maxOldGenerationSizeMb: heapMb },
  });
  // Ignore the failure of a thread without a task: the next task starts a new thread.
  pool.on("error", () => {});
  return pool;
}

const codeOf = (error: unknown): string =>
  error instanceof Error && "code" in error ? String(error.code) : "unknown";

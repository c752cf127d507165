import path from "node:path";
import { fileURLToPath } from "node:url";
import type { Log } from "#server/platform/log";
import { type Reader, type Threads, TooLong } from "#server/platform/threads";
import { convertHtml, stripTags } from "./convert-html.mjs";

/**
 * Converts an HTML body to plain text for a team; "" if it contains no text. Never rejects. Waiting teams
 * take turns. The same HTML gives the same text unless a conversion reaches its time limit: a caller that
 * needs the text again must store it.
 */
export type ConvertToText = (teamId: string, html: string) => Promise<string>;

/**
 * HTML of up to this many characters is converted in place, which takes a few milliseconds at most.
 */
export const shortHtmlChars = 8_000;
const timeLimitMsDefault = 5_000;

const CONVERT: Reader<string, string> = {
  name: "convertHtml",
  read: convertHtml,
  isShort: (html) => html.length <= shortHtmlChars,
  // Not `new URL(…)`: bundlers would treat the file as an asset of the web site.
  file: path.join(path.dirname(fileURLToPath(import.meta.url)), "convert-html.mjs"),
};

/**
 * Converts HTML in threads, because a large newsletter would block the event loop. The result of a conversion
 * that reaches its time limit is that of `stripTags`, also if no thread can be started.
 */
export function createConvertToText(options: {
  log: Log;
  threads: Threads;
  /** Time limit of one conversion, including the start of its thread. */
  timeLimitMs?: number;
}): ConvertToText {
  const { log, threads, timeLimitMs = timeLimitMsDefault } = options;
  return async (teamId, html) => {
    try {
      return await threads.read(teamId, CONVERT, html, timeLimitMs);
    } catch (error) {
      if (error instanceof TooLong) log.warn("html_text.time_limit", { htmlChars: html.length, timeLimitMs });
      else log.error("html_text.thread_failed", { code: codeOf(error) });
      return stripTags(html);
    }
  };
}

const codeOf = (error: unknown): string =>
  error instanceof Error && "code" in error ? String(error.code) : "unknown";

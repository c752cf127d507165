import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import type { Copy } from "./records";
import type { StoredMessage } from "./sink";

/**
 * What the sink has on disk, read one after the other, because there may be more files than can be open at
 * once.
 */
export function readStoredMessages(folder: string): StoredMessage[] {
  return readdirSync(folder)
    .sort()
    .flatMap((name) => {
      const text = readFileSync(path.join(folder, name), "utf8");
      // A file without a time was never confirmed, and its message does not count.
      const file = text === "" ? {} : (JSON.parse(text) as Partial<StoredMessage>);
      return file.writtenAtMs === undefined ? [] : [file as StoredMessage];
    });
}

/** The messages that count: rejected ones do not, although the server stored them. */
export const readCopies = (folder: string): Copy[] =>
  readStoredMessages(folder)
    .filter(({ isRefused }) => !isRefused)
    .map(({ to, client, messageId, writtenAtMs }) => ({ recipients: to, client, messageId, writtenAtMs }));

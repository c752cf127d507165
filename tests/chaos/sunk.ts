import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import type { Copy } from "./records";
import type { SunkFile } from "./sink";

/** What the sink has on disk, one after the other: there may be more than may be open at once. */
export function readSunk(folder: string): SunkFile[] {
  return readdirSync(folder)
    .sort()
    .flatMap((name) => {
      const text = readFileSync(path.join(folder, name), "utf8");
      // A file that has no time yet was never answered, and its message never counted.
      const file = text === "" ? {} : (JSON.parse(text) as Partial<SunkFile>);
      return file.writtenAtMs === undefined ? [] : [file as SunkFile];
    });
}

/** Those that count: what was refused is nobody's mail, though the server has kept it. */
export const readCopies = (folder: string): Copy[] =>
  readSunk(folder)
    .filter(({ isRefused }) => !isRefused)
    .map(({ to, messageId, writtenAtMs }) => ({ recipients: to, messageId, writtenAtMs }));

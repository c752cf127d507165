import { gunzipSync } from "node:zlib";
import { Unzip, UnzipInflate } from "fflate";
import { Refused } from "./report";

/** Limits of all files of a message together. */
export const expandedBytesMax = 10 * 1024 * 1024;
export const filesMax = 5;
/** So few compressed bytes expand to at most 4 MB before they are counted. */
const stepBytes = 4 * 1024;

export type Budget = { files: number; bytes: number };
export const newBudget = (): Budget => ({ files: filesMax, bytes: expandedBytesMax });

/**
 * The documents in a file, which is recognized by its first bytes: gzip, zip, XML or JSON. None for any other
 * content. Archives inside of archives are not opened. Throws `Refused` when the budget is used up, and if
 * the file is damaged.
 */
export function expandFile(bytes: Buffer, budget: Budget): string[] {
  if (bytes[0] === 0x1f && bytes[1] === 0x8b) return documentsOf([gunzip(bytes, budget)]);
  if (bytes.toString("latin1", 0, 4) === "PK\x03\x04") return documentsOf(unzip(bytes, budget));
  const documents = documentsOf([bytes]);
  if (documents.length > 0) countFile(budget);
  return documents;
}

/** Texts that begin as XML or JSON do. */
const documentsOf = (files: readonly Uint8Array[]): string[] =>
  files
    .map((file) => Buffer.from(file).toString("utf8"))
    .filter((text) => /^[\s\ufeff]{0,100}[<{]/.test(text))
    .map((text) => text.replace(/^[\s\ufeff]{1,100}/, ""));

function countFile(budget: Budget): void {
  if (--budget.files < 0) throw new Refused("too_many_files");
}

function countBytes(budget: Budget, count: number): void {
  budget.bytes -= count;
  if (budget.bytes < 0) throw new Refused("too_large");
}

function gunzip(bytes: Buffer, budget: Budget): Buffer {
  countFile(budget);
  // Some reporters add a line break. The last byte of a file below 16 MB is 0, that of its length.
  const file = bytes.subarray(0, bytes.lastIndexOf(0) + 1);
  try {
    const expanded = gunzipSync(file, { maxOutputLength: Math.max(1, budget.bytes) });
    budget.bytes -= expanded.length;
    return expanded;
  } catch (error) {
    throw new Refused(error instanceof RangeError ? "too_large" : "unreadable");
  }
}

function unzip(bytes: Buffer, budget: Budget): Buffer[] {
  const files: Buffer[] = [];
  const archive = new Unzip((file) => {
    if (file.name.endsWith("/")) return;
    countFile(budget);
    const chunks: Uint8Array[] = [];
    file.ondata = (error, data, isLast) => {
      if (error) throw error;
      countBytes(budget, data.length);
      chunks.push(data);
      if (isLast) files.push(Buffer.concat(chunks));
    };
    file.start();
  });
  archive.register(UnzipInflate);
  try {
    for (let at = 0; at < bytes.length; at += stepBytes)
      archive.push(bytes.subarray(at, at + stepBytes), at + stepBytes >= bytes.length);
  } catch (error) {
    throw error instanceof Refused ? error : new Refused("unreadable");
  }
  return files;
}

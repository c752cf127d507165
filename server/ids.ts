import { randomFillSync } from "node:crypto";
import { v7, validate } from "uuid";

const randomSize = 16;
/** Drawn in bulk: a draw for each id would cost several times the rest of it. */
const drawn = new Uint8Array(randomSize * 256);
let used = drawn.length;

let lastMs = 0;
let sequence = 0;

/**
 * A new UUIDv7 (RFC 9562): sorts by the time it was made, so an id is also a paging cursor. Those of one millisecond count
 * upwards from a random number, so that within a process every id is greater than the one before, also when the clock
 * is set back.
 */
export function newId(): string {
  if (used === drawn.length) {
    randomFillSync(drawn);
    used = 0;
  }
  const random = drawn.subarray(used, used + randomSize);
  used += randomSize;
  const nowMs = Date.now();
  if (nowMs > lastMs) {
    lastMs = nowMs;
    // The highest bit stays free for what is counted on top.
    sequence = new DataView(drawn.buffer, random.byteOffset).getUint32(0) >>> 1;
  } else {
    sequence = (sequence + 1) | 0;
    if (sequence === 0) lastMs++;
  }
  return v7({ random, msecs: lastMs, seq: sequence });
}

export const isId = (text: string): boolean => validate(text);

/** The least id that can have been made at that moment: everything made earlier sorts before it. */
export function firstIdAt(at: Date): string {
  const hex = Math.max(0, at.getTime()).toString(16).padStart(12, "0");
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-7000-8000-000000000000`;
}

/** When an id was made, to the millisecond, by the clock of whoever made it. */
export const timeOfId = (id: string): Date =>
  new Date(Number.parseInt(id.replaceAll("-", "").slice(0, 12), 16));

import { randomFillSync } from "node:crypto";
import { v7, validate } from "uuid";

const randomSize = 16;
/** Random bytes are generated in bulk. A call for each id would cost several times the rest of `newId`. */
const pool = new Uint8Array(randomSize * 256);
let used = pool.length;

let lastMs = 0;
let sequence = 0;

/**
 * Creates a UUIDv7 (RFC 9562). Ids sort by creation time, so an id is also a paging cursor. Within one
 * millisecond, a sequence counts up from a random number. In one process each id is greater than the previous
 * one, even if the clock is set back.
 */
export function newId(): string {
  if (used === pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  const random = pool.subarray(used, used + randomSize);
  used += randomSize;
  const nowMs = Date.now();
  if (nowMs > lastMs) {
    lastMs = nowMs;
    // The highest bit is 0, which leaves room to count up.
    sequence = new DataView(pool.buffer, random.byteOffset).getUint32(0) >>> 1;
  } else {
    sequence = (sequence + 1) | 0;
    if (sequence === 0) lastMs++;
  }
  return v7({ random, msecs: lastMs, seq: sequence });
}

export const isId = (text: string): boolean => validate(text);

/** The smallest id of this time. All ids created earlier sort before it. */
export function firstIdAt(at: Date): string {
  const hex = Math.max(0, at.getTime()).toString(16).padStart(12, "0");
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-7000-8000-000000000000`;
}

/** The creation time of an id in milliseconds, by the clock of the process that created it. */
export const timeOfId = (id: string): Date =>
  new Date(Number.parseInt(id.replaceAll("-", "").slice(0, 12), 16));

/** The id before all others. */
export const firstId = "00000000-0000-0000-0000-000000000000";

import type { Writable } from "node:stream";

/** Bytes per write. The timeout restarts before each write. */
const BLOCK_BYTES = 65_536;
/**
 * A message up to this size is sent in one write with its final dot: the kernel buffers this much without
 * blocking.
 */
const WHOLE_BYTES = 8_192;

const LF = 0x0a;
const CR = 0x0d;
const DOT = 0x2e;
const BARE_LINE_END = /\r(?!\n)|(?<!\r)\n/g;

export type Gate = {
  /** Called directly before the final dot is written; the message ends only if it returns true. */
  mayEnd(): boolean;
  /** Called before each block; false stops the transfer. */
  mayContinue(): boolean;
};

/**
 * Writes a message and, if `mayEnd` returns true, its final dot. Of a message that is not sent in one write,
 * every byte has left the process before `mayEnd` is called.
 */
export async function writeContent(socket: Writable, bytes: Uint8Array, gate: Gate): Promise<void> {
  const content = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  const last = content.at(-1);
  const finalDot = last === LF || last === CR ? ".\r\n" : "\r\n.\r\n";
  if (content.length <= WHOLE_BYTES && socket.writableLength === 0) {
    const whole = Buffer.concat([encodeLines(content), Buffer.from(finalDot)]);
    if (gate.mayEnd()) socket.write(whole);
    return;
  }
  for (let start = 0; start < content.length; ) {
    const end = endOfBlock(content, start);
    if (!gate.mayContinue()) return;
    const block = encodeLines(content.subarray(start, end));
    await new Promise((resolve) => socket.write(block, resolve));
    start = end;
  }
  if (gate.mayEnd()) socket.write(finalDot);
}

/** A block has whole lines only, so that each can be encoded by itself. */
function endOfBlock(content: Buffer, start: number): number {
  if (content.length - start <= BLOCK_BYTES) return content.length;
  const end = content.lastIndexOf(LF, start + BLOCK_BYTES - 1);
  if (end >= start) return end + 1;
  const later = content.indexOf(LF, start + BLOCK_BYTES);
  return later === -1 ? content.length : later + 1;
}

/**
 * Doubles a dot at the beginning of a line (RFC 5321, 4.5.2). Messages have CRLF only; any other line end
 * becomes CRLF, because a server that accepts it as one could find the end of the message there.
 */
function encodeLines(lines: Buffer): Buffer {
  if (lines[0] !== DOT && !lines.includes("\n.") && !hasBareLineEnd(lines)) return lines;
  const text = lines.toString("latin1").replace(BARE_LINE_END, "\r\n").replace(/^\./gm, "..");
  return Buffer.from(text, "latin1");
}

function hasBareLineEnd(lines: Buffer): boolean {
  for (let start = 0; ; ) {
    const cr = lines.indexOf(CR, start);
    // Without another CR, another LF is bare. After a bare LF the search ends, so it takes linear time.
    if (cr === -1) return lines.includes(LF, start);
    if (lines.indexOf(LF, start) !== cr + 1) return true;
    start = cr + 2;
  }
}

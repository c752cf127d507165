import type { Duplex, Writable } from "node:stream";

/** Bytes per write. The timeout restarts after each write. */
const CHUNK_BYTES = 65_536;
/**
 * A message up to this size is sent in one write with its final dot: the kernel buffers this much without
 * blocking.
 */
const WHOLE_BYTES = 8_192;
/** Interval at which a slow socket is checked for unsent bytes. */
const FLUSH_POLL_MS = 5;
const FLUSH_EAGER_ROUNDS = 10;

export type Gate = {
  /** The socket that the bytes are sent over; null after it is closed. */
  socket(): Writable | null;
  /** Called after all bytes were sent; the message ends only if it returns true. */
  mayEnd(): boolean;
  /** Called before each write. */
  onProgress(): void;
};

/** The part of a readable stream that nodemailer's client uses for a message. */
export type GatedBody = { pipe(into: Duplex): void; destroy(): void };

/**
 * A message body whose end is delayed. After every byte has left the process it calls `mayEnd`. If the result
 * is true the stream ends and the client writes the final dot; otherwise the stream never ends. For a small
 * message sent in one write `mayEnd` is called right before that write.
 */
export function gatedBody(bytes: Uint8Array, gate: Gate): GatedBody {
  let sent = 0;
  let isOver = false;

  const feed = (into: Duplex): void => {
    while (!isOver && sent < bytes.length) {
      const chunk = bytes.subarray(sent, sent + CHUNK_BYTES);
      sent += chunk.length;
      gate.onProgress();
      if (!into.write(chunk)) {
        into.once("drain", () => feed(into));
        return;
      }
    }
    awaitFlush(into, 0);
  };

  const awaitFlush = (into: Duplex, round: number): void => {
    if (isOver) return;
    const unsent = into.writableLength + into.readableLength + (gate.socket()?.writableLength ?? 0);
    if (unsent === 0) {
      if (gate.mayEnd()) into.end();
    } else if (round < FLUSH_EAGER_ROUNDS) setImmediate(() => awaitFlush(into, round + 1));
    else setTimeout(() => awaitFlush(into, round + 1), FLUSH_POLL_MS);
  };

  const sendWhole = (into: Duplex, socket: Writable): void => {
    if (!gate.mayEnd()) return;
    socket.cork();
    into.end(bytes);
    // The stream emits its output later in this turn of the event loop.
    setImmediate(() => socket.uncork());
  };

  return {
    pipe(into) {
      const socket = gate.socket();
      if (bytes.length <= WHOLE_BYTES && socket?.writableLength === 0) sendWhole(into, socket);
      else feed(into);
    },
    destroy() {
      isOver = true;
    },
  };
}

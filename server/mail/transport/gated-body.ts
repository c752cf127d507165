import type { Duplex, Writable } from "node:stream";

/** Bytes handed on at once, between two looks at the clock. */
const CHUNK_BYTES = 65_536;
/** A message up to this size leaves in one write together with its end: the kernel takes so much without waiting. */
const WHOLE_BYTES = 8_192;
/** How often a slow socket is asked whether it has taken the last byte. */
const FLUSH_POLL_MS = 5;
const FLUSH_EAGER_ROUNDS = 10;

export type Gate = {
  /** Where the bytes leave in the end; null when there is none any more. */
  socket(): Writable | null;
  /** Asked when all bytes have left; only its yes lets the message end. */
  mayEnd(): boolean;
  /** Called whenever more of the message is handed on. */
  onProgress(): void;
};

/** What nodemailer's client wants of a message that is no string: the way into its own stream, and an end to it. */
export type GatedBody = { pipe(into: Duplex): void; destroy(): void };

/**
 * The bytes of a message for the client's stream, whose end waits: when every byte has left the process, `mayEnd` is
 * asked, and only its yes lets the stream end, upon which the client writes the final dot. After a no it never ends. A
 * message so small that it leaves at once is asked for right before that.
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
    const unsent = into.writableLength + into.readableLength + unsentBy(gate.socket());
    if (unsent === 0) {
      if (gate.mayEnd()) into.end();
    } else if (round < FLUSH_EAGER_ROUNDS) setImmediate(() => awaitFlush(into, round + 1));
    else setTimeout(() => awaitFlush(into, round + 1), FLUSH_POLL_MS);
  };

  const sendWhole = (into: Duplex, socket: Writable): void => {
    if (!gate.mayEnd()) return;
    socket.cork();
    into.end(bytes);
    // What goes into the stream comes out of it later in this turn.
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

const unsentBy = (socket: Writable | null): number => socket?.writableLength ?? 0;

import type { Socket } from "node:net";

/** At most this much is read from a socket in advance. */
const READ_AHEAD_BYTES = 262_144;

/**
 * Reads the lines of a socket without their CRLF, one at a time; `null` at the end. A bare LF is content, not
 * a line end.
 */
export function readLines(socket: Socket): { next(): Promise<Buffer | null>; stop(): void } {
  let rest: Buffer = Buffer.alloc(0);
  let ended = false;
  let wake = () => {};
  const onData = (chunk: Buffer) => {
    rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    if (rest.length > READ_AHEAD_BYTES) socket.pause();
    wake();
  };
  const onEnd = () => {
    ended = true;
    wake();
  };
  socket.on("data", onData);
  for (const event of ["end", "close", "error"]) socket.on(event, onEnd);
  return {
    async next() {
      for (;;) {
        const end = rest.indexOf("\r\n");
        if (end !== -1) {
          const line = rest.subarray(0, end);
          rest = rest.subarray(end + 2);
          return line;
        }
        if (ended) return null;
        socket.resume();
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    },
    stop() {
      socket.removeListener("data", onData);
    },
  };
}

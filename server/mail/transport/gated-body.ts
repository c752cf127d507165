import { Readable, type Writable } from "node:stream";

/** Bytes handed on at once: small mail goes in one piece. */
const CHUNK_BYTES = 65_536;
/** How often a slow socket is asked whether it has taken the last byte. */
const FLUSH_POLL_MS = 5;
const FLUSH_EAGER_ROUNDS = 10;

/**
 * The bytes of a message as a stream whose end waits: when every byte has left the process, `mayEnd` is asked, and only
 * its yes lets the stream end, upon which the client writes the final dot. After a no the stream never ends.
 * `unsent` is how many bytes the socket still holds; `onProgress` is called whenever more of the message was taken.
 */
export function gatedBody(
  bytes: Uint8Array,
  gate: { unsent(): number; mayEnd(): boolean; onProgress(): void },
): Readable {
  return new GatedBody(bytes, gate);
}

class GatedBody extends Readable {
  readonly #bytes: Uint8Array;
  readonly #gate: { unsent(): number; mayEnd(): boolean; onProgress(): void };
  #sent = 0;
  #next: Writable | null = null;

  constructor(bytes: Uint8Array, gate: { unsent(): number; mayEnd(): boolean; onProgress(): void }) {
    // Nothing is read ahead: being asked for more means that the last piece was taken.
    super({ highWaterMark: 1 });
    this.#bytes = bytes;
    this.#gate = gate;
  }

  override pipe<T extends NodeJS.WritableStream>(destination: T, options?: { end?: boolean }): T {
    this.#next = destination as unknown as Writable;
    return super.pipe(destination, options);
  }

  override _read(): void {
    if (this.#sent < this.#bytes.length) {
      const chunk = this.#bytes.subarray(this.#sent, this.#sent + CHUNK_BYTES);
      this.#sent += chunk.length;
      this.#gate.onProgress();
      this.push(chunk);
    } else this.#awaitFlush(0);
  }

  /** The escaping transform between us and the socket buffers too, so both must be empty. */
  #awaitFlush(round: number): void {
    if (this.destroyed) return;
    const next = this.#next;
    const held =
      (next?.writableLength ?? 0) +
      (next !== null && "readableLength" in next ? Number(next.readableLength) : 0);
    // An unread last chunk sits in our own buffer.
    if (this.readableLength + held + this.#gate.unsent() === 0) {
      if (this.#gate.mayEnd()) this.push(null);
    } else if (round < FLUSH_EAGER_ROUNDS) setImmediate(() => this.#awaitFlush(round + 1));
    else setTimeout(() => this.#awaitFlush(round + 1), FLUSH_POLL_MS);
  }
}

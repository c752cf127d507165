import { existsSync } from "node:fs";
import { availableParallelism } from "node:os";
import path from "node:path";
import { Tinypool } from "tinypool";
import { AppError, type ErrorCode } from "./errors";
import { createTurns } from "./turns";

/**
 * Reads bytes of strangers. Input and result go from thread to thread, so they are plain values; of the
 * errors, only an AppError without details arrives as what it is.
 */
export type Reader<Input, Result> = {
  /** The name under which the program of the threads exports `answer(this)`. */
  name: string;
  read(input: Input): Result;
  /** Whether the input takes a few milliseconds at most, whatever it is. It is read in place then. */
  isShort(input: Input): boolean;
  /** The bytes of an input, which it owns: a whole buffer moves to the thread instead of being copied. */
  bytesOf?(input: Input): Uint8Array;
  /** A file of plain JavaScript that exports the function itself, where there is no program. */
  file?: string;
};

/** Runs readers of long inputs beside the thread that serves everybody. */
export type Threads = {
  /**
   * Reads an input when it is the turn of its holder: a team, or those without one. Throws `TooLong` after
   * `limitMs`, including the start of a thread; the thread is stopped then. AppError `too_large` if its
   * memory does not suffice.
   */
  read<Input, Result>(
    holder: string,
    reader: Reader<Input, Result>,
    input: Input,
    limitMs: number,
  ): Promise<Result>;
  close(): Promise<void>;
};

/** Reading took too long, which can be due to the load of the machine. */
export class TooLong extends AppError {
  constructor() {
    super("unavailable", "The content could not be read in time. Send it again later.");
  }
}

/** The result of a reader, or its error for the caller. */
type Answer<Result> = { result: Result } | { fault: { code: ErrorCode; message: string } };

/**
 * A reader as the program of the threads exports it: classes of errors are lost on the way between threads.
 */
export const answer =
  <Input, Result>({ read }: Reader<Input, Result>) =>
  (input: Input): Answer<Result> => {
    try {
      return { result: read(withBuffers(input) as Input) };
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      return { fault: { code: error.code, message: error.message } };
    }
  };

/** Whether bytes take a few milliseconds at most, whatever they are. */
export const areShort = ({ length }: Uint8Array): boolean => length <= 32 * 1024;

const threadsMax = 4;
/** An idle thread ends after this time to free its memory. */
const idleMs = 30_000;
const heapMb = 512;

/**
 * The program of the threads: compiled beside the compiled programs, else the source. Null in Next's own
 * bundle, as on Vercel: there, readers without a file run in place.
 */
const program = (() => {
  const own = import.meta.filename;
  if (own === undefined) return null;
  const compiled = path.join(path.dirname(own), "thread.mjs");
  if (existsSync(compiled)) return compiled;
  const source = path.join(path.dirname(own), "../startup/threads/source.mjs");
  return own.endsWith(".ts") ? source : null;
})();

export function createThreads(): Threads {
  const threads = Math.max(2, Math.min(threadsMax, availableParallelism()));
  const inTurn = createTurns(threads);
  let pool: Tinypool | null = null;
  return {
    async read(holder, reader, input, limitMs) {
      const filename = reader.file ?? program;
      if (filename === null || reader.isShort(input)) return reader.read(input);
      return inTurn(holder, async () => {
        const signal = AbortSignal.timeout(limitMs);
        pool ??= openPool(threads);
        try {
          const bytes = reader.bytesOf?.(input);
          // A part of a buffer is copied: the rest belongs to others, as in the pool of Node's Buffers.
          const isWhole = bytes && bytes.byteLength === bytes.buffer.byteLength;
          const transferList = isWhole ? [bytes.buffer as ArrayBuffer] : [];
          const read = await pool.run(input, { filename, name: reader.name, signal, transferList });
          return reader.file === undefined ? resultOf(read) : read;
        } catch (error) {
          if (signal.aborted) throw new TooLong();
          if ((error as NodeJS.ErrnoException).code === "ERR_WORKER_OUT_OF_MEMORY")
            throw new AppError("too_large", "The content takes too much memory to read. Send less at once.");
          throw error;
        }
      });
    },
    close: async () => {
      await pool?.destroy();
      pool = null;
    },
  };
}

function openPool(threads: number): Tinypool {
  const pool = new Tinypool({
    minThreads: 0,
    maxThreads: threads,
    idleTimeout: idleMs,
    useAtomics: false,
    // Threads need neither the loaders nor the secrets of the process.
    execArgv: [],
    env: {},
    resourceLimits: { maxOldGenerationSizeMb: heapMb },
  });
  // Ignore the failure of a thread without a task: the next task starts a new thread.
  pool.on("error", () => {});
  return pool;
}

function resultOf<Result>(read: Answer<Result>): Result {
  if ("fault" in read) throw new AppError(read.fault.code, read.fault.message);
  return withBuffers(read.result) as Result;
}

/**
 * Restores the Buffers of a copied value, in place: a copied Buffer is a Uint8Array, which has other methods.
 */
function withBuffers(value: unknown): unknown {
  if (value instanceof Uint8Array) return Buffer.from(value.buffer, value.byteOffset, value.byteLength);
  if (typeof value !== "object" || value === null) return value;
  const fields = value as Record<string, unknown>;
  for (const name of Object.keys(fields)) {
    const field = fields[name];
    if (typeof field === "object" && field !== null) fields[name] = withBuffers(field);
  }
  return value;
}

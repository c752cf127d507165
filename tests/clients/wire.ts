import { connect, type Socket } from "node:net";
import type { RequestFixture } from "./request-file";

export type Answer = { status: number; headers: Record<string, string>; body: Record<string, unknown> };

type Bytes = { head: Buffer; body: Buffer };

/** The values of the placeholders `{{name}}`. */
export type Values = Record<string, string>;

/**
 * Replaces the placeholders. Their names begin with a lower-case letter: `{{{NAME}}}` belongs to a template.
 */
export function fill(text: string, values: Values): string {
  return text.replace(/\{\{([a-z]\w*)\}\}/g, (_, name: string) => {
    const value = values[name];
    if (value === undefined) throw new Error(`No value was stored as ${name}`);
    return value;
  });
}

/** The bytes of a request. `{{length}}` is the length of its body; a chunked body is one chunk. */
export function bytesOf({ head, body }: Pick<RequestFixture, "head" | "body">, values: Values): Bytes {
  const content = Buffer.from(fill(body ?? "", values));
  const isChunked = head.some((line) => /^transfer-encoding: chunked$/i.test(line));
  const lines = head.map((line) => fill(line, { ...values, length: String(content.byteLength) }));
  return {
    head: Buffer.from(`${lines.join("\r\n")}\r\n\r\n`),
    body: isChunked
      ? Buffer.concat([
          Buffer.from(`${content.byteLength.toString(16)}\r\n`),
          content,
          Buffer.from("\r\n0\r\n\r\n"),
        ])
      : content,
  };
}

/**
 * Writes the bytes to a separate connection, the body only after `100 Continue` if the head requires it, and
 * reads one JSON response with the length in its headers.
 */
export async function exchange(port: number, { head, body }: Bytes): Promise<Answer> {
  const socket = connect(port, "127.0.0.1");
  try {
    const read = createReader(socket);
    socket.write(head);
    if (/^expect: 100-continue$/im.test(head.toString("latin1"))) {
      const interim = (await read.until("\r\n\r\n")).toString("latin1");
      if (!interim.startsWith("HTTP/1.1 100 ")) throw new Error(`Expected 100 Continue, but got ${interim}`);
    }
    socket.write(body);
    const [line = "", ...fields] = (await read.until("\r\n\r\n")).toString("latin1").trimEnd().split("\r\n");
    const headers = Object.fromEntries(
      fields.map((field) => {
        const at = field.indexOf(":");
        return [field.slice(0, at).toLowerCase(), field.slice(at + 1).trim()];
      }),
    );
    const text = (await read.bytes(Number(headers["content-length"]))).toString("utf8");
    return { status: Number(line.split(" ")[1]), headers, body: JSON.parse(text) };
  } finally {
    socket.destroy();
  }
}

/** Reads that many bytes from the stream, and fails if it ends earlier. */
function createReader(socket: Socket) {
  const chunks = socket[Symbol.asyncIterator]();
  let waiting: Buffer = Buffer.alloc(0);
  const more = async (): Promise<void> => {
    const { value, done } = await chunks.next();
    if (done) throw new Error(`The connection ended after ${waiting.toString("latin1").slice(0, 300)}`);
    waiting = Buffer.concat([waiting, value]);
  };
  const take = (count: number): Buffer => {
    const taken = waiting.subarray(0, count);
    waiting = waiting.subarray(count);
    return taken;
  };
  return {
    async until(mark: string): Promise<Buffer> {
      while (!waiting.includes(mark)) await more();
      return take(waiting.indexOf(mark) + mark.length);
    },
    async bytes(count: number): Promise<Buffer> {
      if (!Number.isInteger(count)) throw new Error("The response has no length");
      while (waiting.byteLength < count) await more();
      return take(count);
    },
  };
}

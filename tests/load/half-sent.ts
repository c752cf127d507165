import { once } from "node:events";
import { type OutgoingHttpHeaders, request } from "node:http";

/** A call with an incomplete body, on its own connection. */
export type HalfSent = {
  /**
   * The status of the response; null while the connection is open without one, "closed" if it closed without
   * one.
   */
  status(): number | "closed" | null;
  /** Resolves with the status; rejects if the connection closes without a response. */
  answered: Promise<number>;
  /** Sends more of the body. Resolves when the data is passed to the operating system. */
  more(bytes: string): Promise<void>;
  /** Sends the end of the body. */
  finish(bytes: string): Promise<number>;
  isClosed(): boolean;
  close(): void;
};

/** Sends the headers of a call and the first bytes of its body. */
export async function beginBody(
  baseUrl: string,
  { path, headers, bytes }: { path: string; headers: OutgoingHttpHeaders; bytes: string },
  method = "POST",
): Promise<HalfSent> {
  const { hostname, port } = new URL(baseUrl);
  const call = request({ hostname, port, path, method, headers, agent: false });
  let status: number | "closed" | null = null;
  const answered = once(call, "response").then(([response]) => {
    response.resume();
    status = response.statusCode as number;
    return response.statusCode as number;
  });
  answered.catch(() => {});
  call.on("error", () => {});
  let isClosed = false;
  call.once("socket", (socket) => socket.once("close", () => (isClosed = true)));
  call.once("close", () => {
    status ??= "closed";
  });
  call.flushHeaders();
  await once(call, "socket").then(([socket]) => (socket.connecting ? once(socket, "connect") : undefined));
  if (bytes !== "") call.write(bytes);
  return {
    status: () => status,
    answered,
    more: (text) => new Promise((resolve) => call.write(text, () => resolve())),
    finish: (text) => {
      call.end(text);
      return answered;
    },
    isClosed: () => isClosed,
    close: () => call.destroy(),
  };
}

/**
 * Streams chunks as a response body. A chunk is read only when the client requests it. `onFault` receives the
 * error if reading fails. It is not called if the client disconnects.
 */
export function streamOf(
  parts: AsyncIterable<string | Uint8Array>,
  onFault: (error: unknown) => void,
): ReadableStream<Uint8Array> {
  const utf8 = new TextEncoder();
  const iterator = parts[Symbol.asyncIterator]();
  let isOpen = true;
  return new ReadableStream(
    {
      async pull(controller) {
        try {
          const { value, done } = await iterator.next();
          // The client may have disconnected during the read. A canceled stream accepts no more chunks.
          if (!isOpen) return;
          if (done) controller.close();
          else controller.enqueue(typeof value === "string" ? utf8.encode(value) : value);
        } catch (error) {
          if (!isOpen) return;
          onFault(error);
          // The HTTP server may log this error, and a database error can contain addresses. So it gets a
          // generic message.
          controller.error(new Error("The response was interrupted. See the log for the reason."));
        }
      },
      async cancel() {
        isOpen = false;
        await iterator.return?.();
      },
    },
    { highWaterMark: 0 },
  );
}

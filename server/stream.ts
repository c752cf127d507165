/**
 * Pieces as the body of an answer. Reads on only when somebody takes; stops reading when nobody does any more. `onFault` hears
 * why it broke, and nothing of a reader who went away, which is no fault.
 */
export function streamOf(
  parts: AsyncIterable<string | Uint8Array>,
  onFault: (error: unknown) => void,
): ReadableStream<Uint8Array> {
  const utf8 = new TextEncoder();
  const iterator = parts[Symbol.asyncIterator]();
  let isWanted = true;
  return new ReadableStream(
    {
      async pull(controller) {
        try {
          const { value, done } = await iterator.next();
          // The reader may have gone while the piece was fetched, and a stream that was given up takes nothing more.
          if (!isWanted) return;
          if (done) controller.close();
          else controller.enqueue(typeof value === "string" ? utf8.encode(value) : value);
        } catch (error) {
          if (!isWanted) return;
          onFault(error);
          // Whoever serves it may write this down as it is, and what the database says can hold addresses.
          controller.error(new Error("The answer broke off. The log says why."));
        }
      },
      async cancel() {
        isWanted = false;
        await iterator.return?.();
      },
    },
    { highWaterMark: 0 },
  );
}

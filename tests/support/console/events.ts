/** The server-sent events of a response that have data. */
export async function* readEvents(response: Response): AsyncGenerator<{ name: string; data: string }> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
    text += decoder.decode(chunk, { stream: true });
    const events = text.split("\n\n");
    text = events.pop() ?? "";
    for (const event of events) {
      const fieldOf = (field: string) =>
        event
          .split("\n")
          .find((line) => line.startsWith(`${field}: `))
          ?.slice(field.length + 2);
      const data = fieldOf("data");
      if (data) yield { name: fieldOf("event") ?? "message", data };
    }
  }
}

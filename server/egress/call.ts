import type { Agent, Dispatcher } from "undici";
import { OutsideError, outsideFaultOf } from "./faults";
import type { OutsideAnswer, OutsideRequest } from "./outside";

/** One request over a connection of the agent's, ended by its deadline or its caller. Never throws. */
export async function callWithin(agent: Agent, url: URL, request: OutsideRequest): Promise<OutsideAnswer> {
  const breaking = new AbortController();
  let isLate = false;
  const deadline = setTimeout(() => {
    isLate = true;
    breaking.abort();
  }, request.timeoutMs);
  const giveUp = () => breaking.abort();
  request.signal?.addEventListener("abort", giveUp, { once: true });
  if (request.signal?.aborted) breaking.abort();
  // The client heeds the signal only once it is connected; until then we wait no longer ourselves.
  const broken = new Promise<never>((_, reject) => {
    const leave = () => reject(new OutsideError(isLate ? "timeout" : "network"));
    if (breaking.signal.aborted) leave();
    else breaking.signal.addEventListener("abort", leave, { once: true });
  });
  try {
    return await Promise.race([call(agent, url, request, breaking.signal), broken]);
  } catch (error) {
    return { kind: "fault", fault: isLate ? "timeout" : outsideFaultOf(error) };
  } finally {
    clearTimeout(deadline);
    request.signal?.removeEventListener("abort", giveUp);
  }
}

async function call(
  agent: Agent,
  url: URL,
  request: OutsideRequest,
  signal: AbortSignal,
): Promise<OutsideAnswer> {
  const { statusCode, headers, body } = await agent.request({
    origin: url.origin,
    path: `${url.pathname}${url.search}`,
    method: request.method,
    headers: { "accept-encoding": "identity", ...request.headers },
    body: request.body,
    signal,
  });
  const read = await readUpTo(body, request.answerBytesMax);
  return { kind: "answer", status: statusCode, headers: joined(headers), ...read };
}

async function readUpTo(
  body: Dispatcher.ResponseData["body"],
  bytesMax: number,
): Promise<{ body: Buffer; isCut: boolean }> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of body) {
    chunks.push(chunk);
    length += chunk.length;
    // Leaving the loop ends the body and with it the connection.
    if (length > bytesMax) break;
  }
  return { body: Buffer.concat(chunks, length).subarray(0, bytesMax), isCut: length > bytesMax };
}

function joined(headers: Record<string, string | string[] | undefined>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [
      name,
      Array.isArray(value) ? value.join(", ") : (value ?? ""),
    ]),
  );
}

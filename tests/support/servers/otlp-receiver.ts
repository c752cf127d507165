import { createServer } from "node:http";
import { buffer } from "node:stream/consumers";
import { listenOnLoopback } from "./free-port";

/** A span as a collector received it. Ids are in hex; `parentId` is "" at the root of a trace. */
export type ReceivedSpan = {
  traceId: string;
  spanId: string;
  parentId: string;
  name: string;
  attributes: Record<string, string | number | boolean>;
  /** Attributes of the process. */
  resource: Record<string, string | number | boolean>;
  hasFailed: boolean;
};

export type OtlpReceiver = {
  url: string;
  spans: ReceivedSpan[];
  /** All bytes that were received, as text. */
  text(): string;
  close(): Promise<void>;
};

/**
 * Starts a collector for OTLP over HTTP with protobuf, on loopback. It responds 200 after it has read the
 * spans.
 */
export async function startOtlpReceiver(): Promise<OtlpReceiver> {
  const spans: ReceivedSpan[] = [];
  const bodies: Buffer[] = [];
  const server = createServer(async (request, response) => {
    const body = await buffer(request);
    if (request.method !== "POST" || request.url !== "/v1/traces") return response.writeHead(404).end();
    bodies.push(body);
    spans.push(...readRequest(body));
    response.writeHead(200, { "content-type": "application/x-protobuf" }).end();
  });
  return {
    url: `http://127.0.0.1:${await listenOnLoopback(server)}`,
    spans,
    text: () => Buffer.concat(bodies).toString("latin1"),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/**
 * The fields of a protobuf message: bytes of wire type 2, numbers of wire type 0; fixed-width fields are
 * skipped.
 */
function fieldsOf(message: Buffer): { number: number; bytes: Buffer; value: number }[] {
  const fields: { number: number; bytes: Buffer; value: number }[] = [];
  let at = 0;
  const varint = (): number => {
    let value = 0;
    for (let scale = 1; ; scale *= 128) {
      const byte = message[at++] ?? 0;
      value += (byte & 127) * scale;
      if (byte < 128) return value;
    }
  };
  while (at < message.length) {
    const tag = varint();
    const number = tag >>> 3;
    const none = Buffer.alloc(0);
    if ((tag & 7) === 0) fields.push({ number, bytes: none, value: varint() });
    else if ((tag & 7) === 2) {
      const length = varint();
      fields.push({ number, bytes: message.subarray(at, at + length), value: 0 });
      at += length;
    } else at += (tag & 7) === 1 ? 8 : 4;
  }
  return fields;
}

const all = (message: Buffer, number: number): Buffer[] =>
  fieldsOf(message).flatMap((field) => (field.number === number ? [field.bytes] : []));
const first = (message: Buffer, number: number): Buffer => all(message, number)[0] ?? Buffer.alloc(0);

/**
 * The numbers are those of opentelemetry-proto: ExportTraceServiceRequest, ResourceSpans, ScopeSpans, Span
 * and KeyValue.
 */
function readRequest(body: Buffer): ReceivedSpan[] {
  return all(body, 1).flatMap((ofResource) => {
    const resource = readAttributes(all(first(ofResource, 1), 1));
    return all(ofResource, 2).flatMap((ofScope) =>
      all(ofScope, 2).map((span) => ({
        traceId: first(span, 1).toString("hex"),
        spanId: first(span, 2).toString("hex"),
        parentId: first(span, 4).toString("hex"),
        name: first(span, 5).toString(),
        attributes: readAttributes(all(span, 9)),
        resource,
        hasFailed: fieldsOf(first(span, 15)).some(({ number, value }) => number === 3 && value === 2),
      })),
    );
  });
}

function readAttributes(pairs: Buffer[]): ReceivedSpan["attributes"] {
  return Object.fromEntries(
    pairs.map((pair) => {
      const [value] = fieldsOf(first(pair, 2));
      const read =
        value?.number === 1 ? value.bytes.toString() : value?.number === 2 ? value.value === 1 : value?.value;
      return [first(pair, 1).toString(), read ?? ""];
    }),
  );
}

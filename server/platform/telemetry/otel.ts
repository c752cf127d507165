import { ROOT_CONTEXT, SpanKind, SpanStatusCode, TraceFlags, trace } from "@opentelemetry/api";
import { parseTraceParent, setGlobalErrorHandler } from "@opentelemetry/core";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-proto";
import {
  defaultResource,
  detectResources,
  envDetector,
  resourceFromAttributes,
} from "@opentelemetry/resources";
import { BasicTracerProvider, BatchSpanProcessor } from "@opentelemetry/sdk-trace-base";
import { errorFacts, type Log } from "../log";

/** Facts of a span. Never an address, a subject or other content of an email. */
export type Attributes = Record<string, string | number | boolean>;

/** Records spans. Where tracing is off, there is no tracer, and no package of OpenTelemetry is loaded. */
export type Tracer = ReturnType<typeof createOtel>["tracer"];
/** One timed step of a trace. */
export type Span = ReturnType<typeof wrap>;

type SpanOptions = {
  /** The `traceparent` of the parent. Without one, or with an invalid one, the span begins a trace. */
  parent?: string | null;
  /** `server` and `client` for requests, `producer` and `consumer` for the queue. Default: `internal`. */
  kind?: keyof typeof KINDS;
  attributes?: Attributes;
  /** When the step began, in ms since the epoch. Default: now. */
  startMs?: number;
};

const KINDS = {
  server: SpanKind.SERVER,
  client: SpanKind.CLIENT,
  producer: SpanKind.PRODUCER,
  consumer: SpanKind.CONSUMER,
  internal: SpanKind.INTERNAL,
} as const;
const logIntervalMs = 60_000;

/**
 * Exports spans over OTLP/HTTP. The packages of OpenTelemetry read the standard variables themselves:
 * endpoint, headers, sampler, service name (default: backstamp) and limits of the batches. Spans wait in a
 * queue of bounded length; a collector that does not respond costs spans, never an email. Export failures are
 * logged at most once a minute.
 */
export function createOtel({ version, role, log }: { version: string; role: "web" | "worker"; log: Log }) {
  let loggedAtMs = Number.NEGATIVE_INFINITY;
  setGlobalErrorHandler((error) => {
    if (performance.now() - loggedAtMs < logIntervalMs) return;
    loggedAtMs = performance.now();
    log.warn("traces.not_exported", errorFacts(error instanceof Error ? error : new Error("export failed")));
  });
  const own = resourceFromAttributes({
    "service.name": "backstamp",
    "service.version": version,
    "backstamp.role": role,
  });
  const resource = defaultResource()
    .merge(own)
    .merge(detectResources({ detectors: [envDetector] }));
  const provider = new BasicTracerProvider({
    resource,
    spanProcessors: [new BatchSpanProcessor(new OTLPTraceExporter())],
  });
  const spans = provider.getTracer("backstamp", version);

  return {
    tracer: {
      start(name: string, { parent, kind = "internal", attributes, startMs }: SpanOptions = {}) {
        const remote = parent ? parseTraceParent(parent) : null;
        const context = remote
          ? trace.setSpanContext(ROOT_CONTEXT, { ...remote, isRemote: true })
          : ROOT_CONTEXT;
        return wrap(spans.startSpan(name, { kind: KINDS[kind], attributes, startTime: startMs }, context));
      },
    },
    /** Sends the spans that have ended. Never rejects. */
    flush: () => provider.forceFlush().catch(() => {}),
    /** Sends them and stops. Never rejects. */
    close: () => provider.shutdown().catch(() => {}),
  };
}

function wrap(span: ReturnType<ReturnType<BasicTracerProvider["getTracer"]>["startSpan"]>) {
  const { traceId, spanId, traceFlags } = span.spanContext();
  const flags = (traceFlags & TraceFlags.SAMPLED).toString(16).padStart(2, "0");
  return {
    /** The `traceparent` of this span (W3C Trace Context), for its children. */
    traceparent: `00-${traceId}-${spanId}-${flags}`,
    set: (attributes: Attributes) => void span.setAttributes(attributes),
    /** Marks the span as failed. `kind` is a class of errors, never a message. */
    fail(kind: string): void {
      span.setAttribute("error.type", kind);
      span.setStatus({ code: SpanStatusCode.ERROR });
    },
    /** Ends the span. Only the first call counts. */
    end(): void {
      if (span.isRecording()) span.end();
    },
  };
}

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
import type { Span, Tracer } from "./tracer";

export type OtelOptions = { version: string; role: "web" | "worker"; log: Log };

/** A tracer that exports its spans. */
export type ExportingTracer = {
  tracer: Tracer;
  /** Sends the spans that have ended. Never rejects. */
  flush(): Promise<void>;
  /** Sends them and stops. Never rejects. */
  close(): Promise<void>;
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
export function createOtel({ version, role, log }: OtelOptions): ExportingTracer {
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
      start(name, { parent, kind = "internal", attributes, startMs } = {}) {
        const remote = parent ? parseTraceParent(parent) : null;
        const context = remote
          ? trace.setSpanContext(ROOT_CONTEXT, { ...remote, isRemote: true })
          : ROOT_CONTEXT;
        return wrap(spans.startSpan(name, { kind: KINDS[kind], attributes, startTime: startMs }, context));
      },
    },
    flush: () => provider.forceFlush().catch(() => {}),
    close: () => provider.shutdown().catch(() => {}),
  };
}

function wrap(span: ReturnType<ReturnType<BasicTracerProvider["getTracer"]>["startSpan"]>): Span {
  const { traceId, spanId, traceFlags } = span.spanContext();
  const flags = (traceFlags & TraceFlags.SAMPLED).toString(16).padStart(2, "0");
  return {
    traceparent: `00-${traceId}-${spanId}-${flags}`,
    set: (attributes) => void span.setAttributes(attributes),
    fail(kind) {
      span.setAttribute("error.type", kind);
      span.setStatus({ code: SpanStatusCode.ERROR });
    },
    end: () => {
      if (span.isRecording()) span.end();
    },
  };
}

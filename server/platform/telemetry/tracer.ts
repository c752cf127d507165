/** Facts of a span. Never an address, a subject or other content of an email. */
export type Attributes = Record<string, string | number | boolean>;

/** One timed step of a trace. */
export type Span = {
  /** The `traceparent` of this span (W3C Trace Context), for its children. */
  traceparent: string;
  set(attributes: Attributes): void;
  /** Marks the span as failed. `kind` is a class of errors, never a message. */
  fail(kind: string): void;
  /** Ends the span. Only the first call counts. */
  end(): void;
};

export type SpanOptions = {
  /** The `traceparent` of the parent. Without one, or with an invalid one, the span begins a trace. */
  parent?: string | null;
  /** `server` and `client` for requests, `producer` and `consumer` for the queue. Default: `internal`. */
  kind?: "server" | "client" | "producer" | "consumer" | "internal";
  attributes?: Attributes;
  /** When the step began, in ms since the epoch. Default: now. */
  startMs?: number;
};

/** Records spans. Where tracing is off, there is no tracer, and no package of OpenTelemetry is loaded. */
export type Tracer = {
  start(name: string, options?: SpanOptions): Span;
};

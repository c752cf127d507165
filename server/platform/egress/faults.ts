/**
 * Why a request has no response. The classes are coarse because the owner of the URL sees them: a blocked
 * address must look the same whether or not a service listens there.
 */
export const OUTSIDE_FAULTS = ["blocked", "timeout", "refused", "tls", "dns", "network"] as const;
export type OutsideFault = (typeof OUTSIDE_FAULTS)[number];

/** Thrown by the checked DNS lookup during a connection attempt. */
export class OutsideError extends Error {
  constructor(readonly fault: OutsideFault) {
    super(`outside: ${fault}`);
    this.name = "OutsideError";
  }
}

const TLS_CODE =
  /^(ERR_TLS_|ERR_SSL_|CERT_|CRL_|ERROR_IN_|UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED_|INVALID_CA|INVALID_PURPOSE|HOSTNAME_MISMATCH|EPROTO$)/;

const FAULT_BY_CODE: Record<string, OutsideFault> = {
  ECONNREFUSED: "refused",
  ETIMEDOUT: "timeout",
  UND_ERR_CONNECT_TIMEOUT: "timeout",
};

/** Classifies any error of a request. */
export function outsideFaultOf(error: unknown): OutsideFault {
  if (error instanceof OutsideError) return error.fault;
  if (!(error instanceof Error)) return "network";
  // If several addresses were tried, the first error applies.
  const [first]: unknown[] = error instanceof AggregateError ? error.errors : [];
  if (first !== undefined) return outsideFaultOf(first);
  const code = "code" in error ? String(error.code) : "";
  return TLS_CODE.test(code) ? "tls" : (FAULT_BY_CODE[code] ?? "network");
}

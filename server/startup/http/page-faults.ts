import type { IncomingMessage, ServerResponse } from "node:http";
import { hostNameOf, isHostBelowDomain } from "#server/platform/http/host-name";
import { ONLY_LINKS } from "#server/services/domains/served-hosts";
import { formatRejection, type RestApi } from "./rest-endpoint";

export type PageFault = { status: 400 | 404 | 405; name: string; message: string };

/** Methods that pages and the console's API support. */
const METHODS = "GET, HEAD, POST";
/** Next answers any other method with an empty 400 or 500, and all of these itself. */
const NEXT_METHODS = new Set(["GET", "HEAD", "OPTIONS", "POST", "PUT", "DELETE", "PATCH"]);

/** Finds requests that Next would answer with a bare 400 or 500: unknown methods and undecodable paths. */
export function findPageFault({
  method = "GET",
  url = "/",
}: Partial<Pick<IncomingMessage, "method" | "url">>): PageFault | null {
  if (!NEXT_METHODS.has(method) || url === "*")
    return {
      status: 405,
      name: "method_not_allowed",
      message: `${method} is not supported here.`,
    };
  const [path = ""] = url.split("?", 1);
  if (isDecodable(path)) return null;
  const message =
    "The path is not valid percent-encoded UTF-8. Write % as %25, and other characters as their UTF-8 bytes.";
  return { status: 400, name: "validation_error", message };
}

/** Finds requests for pages at a tracking host, which serves only links. */
export async function findHostFault(
  { headers: { host } }: IncomingMessage,
  rest: Promise<RestApi>,
): Promise<PageFault | null> {
  // Other hosts do not wait for the REST API to start.
  if (!isHostBelowDomain(hostNameOf(host ?? "")) || !(await (await rest).isTrackingHost(host))) return null;
  return { status: 404, name: "not_found", message: ONLY_LINKS };
}

/** Responds to such a request in the API's error format, with the rate-limit headers. */
export async function rejectPage(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  rest: Promise<RestApi>,
  fault: PageFault,
): Promise<void> {
  const { headers, body } = await formatRejection(rest, incoming.socket.remoteAddress ?? null, fault);
  outgoing.writeHead(fault.status, {
    "x-content-type-options": "nosniff",
    ...(fault.status === 405 ? { allow: METHODS } : {}),
    ...headers,
  });
  outgoing.end(body);
  // Discards the request body, so it does not keep the connection open.
  incoming.resume();
}

function isDecodable(path: string): boolean {
  try {
    return !decodeURIComponent(path).includes("\0");
  } catch {
    return false;
  }
}

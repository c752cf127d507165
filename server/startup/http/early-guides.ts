import type { IncomingMessage, ServerResponse } from "node:http";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { GUIDE_POLICY, guideSegmentsOf } from "#server/shared/guides";

type Route = { GET(request: Request, context: { params: Promise<{ guide: string[] }> }): Promise<Response> };

/**
 * Responds with a guide that its route renders in this process. False if the request is not for a guide. In
 * development, Next.js compiles for many seconds before its first response, and the guides say how to start.
 */
export async function respondWithGuide(
  folder: string,
  { method, url = "/" }: IncomingMessage,
  outgoing: ServerResponse,
): Promise<boolean> {
  const [pathname = ""] = url.split("?", 1);
  const guide = guideSegmentsOf(pathname);
  if (!(method === "GET" || method === "HEAD") || guide === null) return false;
  // Not a literal: the compiled launcher does not contain the pages.
  const file = path.join(folder, "app/docs/[[...guide]]/route.ts");
  const { GET } = (await import(pathToFileURL(file).href)) as Route;
  const params = Promise.resolve({ guide: [...guide] });
  const response = await GET(new Request("http://localhost"), { params });
  const headers = { ...Object.fromEntries(response.headers), "content-security-policy": GUIDE_POLICY };
  outgoing.writeHead(response.status, headers).end(await response.text());
  return true;
}

import type { Page, Request, Response } from "playwright-core";

/** Script size in KB of 1,024 bytes, compressed, for a browser without a cache. */
export type ScriptSize = {
  /** The scripts in the document, which the page needs for hydration. */
  untilUsable: number;
  /** All scripts until the page is idle, including parts that load later. */
  untilRest: number;
};

/**
 * Records the scripts of every document that the page opens. Cached scripts count with their original size.
 * The returned function gives the size for the current document; call it when the page is idle.
 */
export function measureScripts(page: Page): () => Promise<ScriptSize> {
  const bytesOf = new Map<string, number>();
  let latest: Request | null = null;
  let requested = new Set<string>();
  let document = "";
  const pending: Promise<void>[] = [];
  const storeDocument = async (response: Response) => {
    // The browser keeps the body only until the next navigation, and then the next document counts.
    const text = await response.text().catch(() => "");
    if (response.request() === latest) document = text;
  };
  const recordSize = async (request: Request) => {
    const sizes = await request.sizes().catch(() => null);
    const bytes = sizes?.responseBodySize ?? 0;
    bytesOf.set(request.url(), Math.max(bytes, bytesOf.get(request.url()) ?? 0));
  };
  const isDocument = (request: Request) =>
    request.isNavigationRequest() && request.frame() === page.mainFrame();
  page.on("request", (request) => {
    if (!isDocument(request)) return;
    latest = request;
    requested = new Set();
    document = "";
  });
  page.on("response", (response) => {
    if (isDocument(response.request())) pending.push(storeDocument(response));
  });
  page.on("requestfinished", (request) => {
    if (request.resourceType() !== "script") return;
    requested.add(request.url());
    pending.push(recordSize(request));
  });
  return async () => {
    await Promise.all(pending.splice(0));
    if (document === "") throw new Error("The document was not read before the page was navigated.");
    const kbOf = (urls: string[]) => urls.reduce((sum, url) => sum + (bytesOf.get(url) ?? 0) / 1024, 0);
    const all = [...requested];
    return {
      untilUsable: kbOf(all.filter((url) => document.includes(new URL(url).pathname))),
      untilRest: kbOf(all),
    };
  };
}

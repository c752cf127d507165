import type { Page, Response } from "playwright-core";

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
  let requested = new Set<string>();
  let document = "";
  const pending: Promise<void>[] = [];
  const storeDocument = async (response: Response) => {
    // The browser keeps the body only until the next navigation, which has a document of its own.
    document = (await response.text().catch(() => null)) ?? document;
  };
  const recordSize = async (url: string, sizes: Promise<{ responseBodySize: number }>) =>
    void bytesOf.set(url, Math.max((await sizes).responseBodySize, bytesOf.get(url) ?? 0));
  page.on("request", (request) => {
    if (!request.isNavigationRequest() || request.frame() !== page.mainFrame()) return;
    requested = new Set();
    document = "";
  });
  page.on("response", (response) => {
    const request = response.request();
    if (request.isNavigationRequest() && request.frame() === page.mainFrame())
      pending.push(storeDocument(response));
  });
  page.on("requestfinished", (request) => {
    if (request.resourceType() !== "script") return;
    requested.add(request.url());
    pending.push(recordSize(request.url(), request.sizes()));
  });
  return async () => {
    await Promise.all(pending.splice(0));
    if (document === "") throw new Error("The page was navigated away before its document was read.");
    const kbOf = (urls: string[]) => urls.reduce((sum, url) => sum + (bytesOf.get(url) ?? 0) / 1024, 0);
    const all = [...requested];
    return {
      untilUsable: kbOf(all.filter((url) => document.includes(new URL(url).pathname))),
      untilRest: kbOf(all),
    };
  };
}

import type { Page } from "playwright-core";

/** In KB of 1,024 bytes, compressed, as it comes over the line to a browser that has none of it. */
export type ScriptWeight = {
  /** What the document names: with it the page wakes up and can be used. */
  untilUsable: number;
  /** All of it, until the page rests: more where a part comes by itself afterwards. */
  untilRest: number;
};

/**
 * Notes the scripts of every document that the page opens. What the browser has from an earlier one weighs what it weighed
 * then. Answers how much the document weighs which stands there now and has come to rest.
 */
export function weighScripts(page: Page): () => Promise<ScriptWeight> {
  const bytesOf = new Map<string, number>();
  let asked = new Set<string>();
  let document = "";
  const pending: Promise<void>[] = [];
  const keep = async (text: Promise<string>) => {
    document = await text;
  };
  const note = async (url: string, sizes: Promise<{ responseBodySize: number }>) =>
    void bytesOf.set(url, Math.max((await sizes).responseBodySize, bytesOf.get(url) ?? 0));
  page.on("request", (request) => {
    if (request.isNavigationRequest() && request.frame() === page.mainFrame()) asked = new Set();
  });
  page.on("response", (response) => {
    const request = response.request();
    if (request.isNavigationRequest() && request.frame() === page.mainFrame())
      pending.push(keep(response.text()));
  });
  page.on("requestfinished", (request) => {
    if (request.resourceType() !== "script") return;
    asked.add(request.url());
    pending.push(note(request.url(), request.sizes()));
  });
  return async () => {
    await Promise.all(pending.splice(0));
    const kbOf = (urls: string[]) => urls.reduce((sum, url) => sum + (bytesOf.get(url) ?? 0) / 1024, 0);
    const all = [...asked];
    return {
      untilUsable: kbOf(all.filter((url) => document.includes(new URL(url).pathname))),
      untilRest: kbOf(all),
    };
  };
}

import { GUIDE_SEGMENTS } from "#server/shared/guides";
import { readPages, readProjectFile } from "../render/documents";
import { renderPage, renderStart } from "../render/html";

/*
 * The guides. All responses are created by the build, so they need neither a database nor valid settings: an operator can
 * read here how to correct them. As static documents they cannot contain the nonce of the console's pages; `proxy.ts` sets
 * a policy for them that allows only scripts in files.
 */
export const dynamic = "force-static";
export const dynamicParams = false;

export const generateStaticParams = () => GUIDE_SEGMENTS.map((guide) => ({ guide }));

type Segments = { params: Promise<{ guide?: string[] }> };

export async function GET(_: Request, { params }: Segments): Promise<Response> {
  const { guide = [] } = await params;
  const pages = readPages();
  const version = readVersion();
  if (guide.length === 0) return respond("text/html; charset=utf-8", renderStart(pages, version));
  switch (guide.join("/")) {
    case "guides.css":
      return respond("text/css; charset=utf-8", readStyles());
    case "guides.js":
      return respond("text/javascript; charset=utf-8", readProjectFile("app/docs/render/browser.js"));
    case "search.json":
      return respond("application/json", JSON.stringify(indexOf(pages)));
  }
  const page = pages.find(({ path }) => path === ["/docs", ...guide].join("/"));
  return page
    ? respond("text/html; charset=utf-8", renderPage(page, pages, version))
    : new Response("Not found", { status: 404 });
}

/** Browsers ask each time whether the file has changed, so an upgrade shows the guides of its version. */
const respond = (type: string, body: string): Response =>
  new Response(body, { headers: { "Content-Type": type, "Cache-Control": "no-cache" } });

const readVersion = (): string =>
  (JSON.parse(readProjectFile("package.json")) as { version: string }).version;

/** The colors are those of the console. */
function readStyles(): string {
  const colors = readProjectFile("app/globals.css").match(/^(:root|\.dark) \{[^}]*\}/gm) ?? [];
  return [...colors, readProjectFile("app/docs/render/guides.css")].join("\n");
}

/** What the search of the pages reads: each section with its address. */
const indexOf = (pages: ReturnType<typeof readPages>) =>
  pages.flatMap(({ path, title, sections }) =>
    sections.map(({ id, heading, text }) => ({
      address: id === "" ? path : `${path}#${id}`,
      title,
      heading,
      text,
    })),
  );

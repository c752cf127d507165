import { documentOf } from "#server/rest/openapi/document";
import { listErrors } from "#server/rest/openapi/faults";
import { routes } from "#server/rest/routes";
import { GUIDE_SEGMENTS } from "#server/shared/guides";
import { type Page, readPages, readProjectFile } from "../render/documents";
import { renderPage, renderStart, writeIndex, writeStart } from "../render/html";
import { renderReferencePages } from "../render/reference";

/*
 * The guides and the API reference. All responses are created by the build, so they need neither a database
 * nor valid settings: an operator can read here how to correct them. As static documents they cannot contain
 * the nonce of the console's pages; `proxy.ts` sets a policy for them that allows only scripts in files.
 */
export const dynamic = "force-static";
export const dynamicParams = false;

export const generateStaticParams = () => GUIDE_SEGMENTS.map((guide) => ({ guide }));

type Segments = { params: Promise<{ guide?: string[] }> };

export async function GET(_: Request, { params }: Segments): Promise<Response> {
  const { guide = [] } = await params;
  const version = readVersion();
  const guides = readPages();
  if (guide.length === 0) return respond("text/html; charset=utf-8", renderStart(guides, version));
  switch (guide.join("/")) {
    case "guides.css":
      return respond("text/css; charset=utf-8", readStyles());
    case "guides.js":
      return respond("text/javascript; charset=utf-8", readProjectFile("app/docs/scripts/browser.js"));
    case "api.js":
      return respond("text/javascript; charset=utf-8", readProjectFile("app/docs/scripts/try-operation.js"));
    case "search.json":
      return respond("application/json", JSON.stringify(indexOf([...guides, ...readReference()])));
    case "llms.txt":
      return respond("text/plain; charset=utf-8", writeIndex([...guides, ...readReference()]));
    case "index.md":
      return respond("text/markdown; charset=utf-8", writeStart(guides));
  }
  const pages = guide[0] === "api" || guide[0] === "api.md" ? readReference() : guides;
  const address = ["/docs", ...guide].join("/");
  const page = pages.find(({ path }) => path === address);
  if (page) return respond("text/html; charset=utf-8", renderPage(page, pages, version));
  const text = pages.find(({ path }) => `${path}.md` === address);
  return text
    ? respond("text/markdown; charset=utf-8", text.markdown)
    : new Response("Not found", { status: 404 });
}

/** Created once in a process: it does not change, and renders thousands of fields. */
let reference: Page[] | undefined;

function readReference(): Page[] {
  reference ??= renderReferencePages(documentOf(routes), listErrors());
  return reference;
}

/** Browsers ask each time whether the file has changed, so an upgrade shows the guides of its version. */
const respond = (type: string, body: string): Response =>
  new Response(body, { headers: { "Content-Type": type, "Cache-Control": "no-cache" } });

const readVersion = (): string =>
  (JSON.parse(readProjectFile("package.json")) as { version: string }).version;

const COLORS = /^(:root \{[^}]*\}|@media not print \{\s*\.dark \{[^}]*\}\s*\})/gm;

/** The colors are those of the console. */
function readStyles(): string {
  const colors = readProjectFile("app/globals.css").match(COLORS) ?? [];
  const files = ["navigation.css", "guides.css", "reference.css"];
  return [...colors, ...files.map((file) => readProjectFile(`app/docs/render/${file}`))].join("\n");
}

/**
 * What the search of the pages reads: each section with its address. The guides about other
 * providers are found after the others.
 */
const indexOf = (pages: readonly Page[]) =>
  pages.flatMap(({ path, title, section, sections }) =>
    sections.map(({ id, heading, text }) => ({
      address: id === "" ? path : `${path}#${id}`,
      weight: section === "Migrate" ? 0 : 1,
      title,
      heading,
      text,
    })),
  );

import { readFileSync } from "node:fs";
import path from "node:path";
import { GUIDE_SECTIONS, REFERENCE_DOCUMENTS } from "#server/shared/guides";
import { type Rendered, renderMarkdown } from "./markdown";

/** A page below `/docs` that is rendered from a Markdown file of the repository. */
export type Page = Rendered & { path: string; section: string };

/** Only the build and the development server read these files: the pages are prerendered. */
export const readProjectFile = (file: string): string =>
  readFileSync(path.join(/* turbopackIgnore: true */ process.cwd(), file), "utf8");

type Source = { file: string; path: string; section: string };

const SOURCES: Source[] = [
  ...GUIDE_SECTIONS.flatMap(({ title, guides }) =>
    guides.map((name) => ({ file: `app/docs/guides/${name}.md`, path: `/docs/${name}`, section: title })),
  ),
  ...Object.entries(REFERENCE_DOCUMENTS).map(([name, file]) => ({
    file,
    path: `/docs/reference/${name}`,
    section: "Reference",
  })),
];

const PATHS = new Map([
  ...SOURCES.map(({ file, path: address }) => [file, address] as const),
  ["app/docs/api/page.tsx", "/docs/api"] as const,
]);

/** The address of a link in a file; null if it leads to a file that installations do not serve. */
const linkResolverOf =
  (file: string) =>
  (target: string): string | null => {
    if (/^(https?:|mailto:|#)/.test(target)) return target;
    const [to = "", anchor] = target.split("#");
    const address = PATHS.get(path.posix.join(path.posix.dirname(file), decodeURIComponent(to)));
    return address === undefined ? null : address + (anchor === undefined ? "" : `#${anchor}`);
  };

/** All pages in the order of the navigation. */
export const readPages = (): Page[] =>
  SOURCES.map(({ file, path: address, section }) => ({
    ...renderMarkdown(readProjectFile(file), linkResolverOf(file)),
    path: address,
    section,
  }));

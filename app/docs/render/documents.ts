import { readFileSync } from "node:fs";
import path from "node:path";
import { GUIDE_SECTIONS } from "#server/shared/guides";
import { type Rendered, renderMarkdown } from "./markdown";

/** A page below `/docs`. `markdown` has the same content as its HTML. */
export type Page = Rendered & { path: string; section: string; markdown: string };

/** Only the build and the development server read these files: the pages are prerendered. */
export const readProjectFile = (file: string): string =>
  readFileSync(path.join(/* turbopackIgnore: true */ process.cwd(), file), "utf8");

type Source = { file: string; path: string; section: string };

const SOURCES: Source[] = GUIDE_SECTIONS.flatMap(({ title, guides }) =>
  guides.map((name) => ({ file: `app/docs/guides/${name}.md`, path: `/docs/${name}`, section: title })),
);

const PATHS = new Map(SOURCES.map(({ file, path: address }) => [file, address]));

/** The address of a link in a file; null if it leads to a file that installations do not serve. */
const linkResolverOf =
  (file: string) =>
  (target: string): string | null => {
    if (/^(https?:|mailto:|#)/.test(target)) return target;
    const [to = "", anchor] = target.split("#");
    const address = PATHS.get(path.posix.join(path.posix.dirname(file), decodeURIComponent(to)));
    return address === undefined ? null : address + (anchor === undefined ? "" : `#${anchor}`);
  };

const CODE = /(^```[\s\S]*?^```$)/m;

/**
 * Markdown with the links of the pages. Of a link that leads nowhere in an installation only its text
 * remains.
 */
const resolveLinks = (source: string, resolve: (target: string) => string | null): string =>
  source
    .split(CODE)
    .map((part, index) =>
      index % 2 === 1
        ? part
        : part
            .replace(/!\[([^\]]*)\]\([^)]+\)/g, "$1")
            .replace(/\[([^\]]*)\]\(([^)]+)\)/g, (_, text: string, target: string) => {
              const address = resolve(target);
              return address === null ? text : `[${text}](${address})`;
            }),
    )
    .join("");

/** The last rendered version of each file. A page is rendered among all others, so each is needed often. */
const rendered = new Map<string, { source: string; page: Page }>();

/** The guides in the order of the navigation. */
export const readPages = (): Page[] =>
  SOURCES.map(({ file, path: address, section }) => {
    const source = readProjectFile(file);
    const last = rendered.get(file);
    if (last?.source === source) return last.page;
    const resolve = linkResolverOf(file);
    const markdown = resolveLinks(source, resolve);
    const page = { ...renderMarkdown(source, resolve), markdown, path: address, section };
    rendered.set(file, { source, page });
    return page;
  });

import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { projectRoot } from "../support/processes/processes";
import { NOT_RUN } from "./not-run";

const folder = path.join(projectRoot, "app/docs/guides");

/** The names of all guides. */
export const GUIDES = readdirSync(folder)
  .filter((file) => file.endsWith(".md"))
  .map((file) => file.replace(/\.md$/, ""))
  .sort();

export const readGuide = (name: string): string => readFileSync(path.join(folder, `${name}.md`), "utf8");

/** A fenced block of a guide. `name` is that of the guide with the first line of the block. */
export type Block = { guide: string; name: string; language: string; about: string; text: string };

export const blocksOf = (guide: string): Block[] =>
  [...readGuide(guide).matchAll(/^```(\w*) ?(.*)\n([\s\S]*?)^```$/gm)].map(
    ([, language = "", about = "", text = ""]) => ({
      guide,
      name: `${guide}: ${text.split("\n")[0]}`,
      language,
      about,
      text,
    }),
  );

const LANGUAGES = ["js", "python", "php"];
/** The endpoints that verify a signature: servers that listen on `PORT`. */
const isSnippet = ({ guide, text }: Block) => guide === "webhooks" && /\bPORT\b/.test(text);
const isCommandLine = ({ language, text }: Block) =>
  language === "sh" && text.split("\n").every((line) => /^$|^(?:\w+=\S+ )?backstamp /.test(line));

/** What the tests do with a block. Each block is in one group. */
export const GROUPS = {
  executed: (block: Block) =>
    !isSnippet(block) &&
    !(block.name in NOT_RUN) &&
    (LANGUAGES.includes(block.language) || (block.language === "sh" && block.text.startsWith("curl "))),
  "parsed as commands": (block: Block) => isCommandLine(block) && !(block.name in NOT_RUN),
  "sent as JSON": ({ language, name }: Block) => language === "json" && !(name in NOT_RUN),
  "endpoints that verify signatures, which another test executes": isSnippet,
  "not run": ({ name }: Block) => name in NOT_RUN,
};

export const blocksIn = (group: keyof typeof GROUPS): Block[] =>
  GUIDES.flatMap(blocksOf).filter((block) => GROUPS[group](block));

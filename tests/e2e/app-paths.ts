import { readdirSync } from "node:fs";
import path from "node:path";
import { projectRoot } from "../support/processes/processes";

const app = path.join(projectRoot, "app");

/** The path of a folder of `app`, with an unknown id for each parameter. */
const pathOf = (folder: string): string =>
  `/${folder === "." ? "" : folder}`
    .replace(/\/\([^)]+\)/g, "")
    .replace("[...nextauth]", "session")
    .replace("[trpc]", "service.readiness")
    .replace("[[...path]]", "health")
    .replace(/\[[^\]]+\]/g, "01900000-0000-7000-8000-000000000000");

/** The path of each page or of each route file. They are found in the file tree, so new ones are included. */
export const pathsOf = (name: "page.tsx" | "route.ts"): string[] =>
  readdirSync(app, { recursive: true, encoding: "utf8" })
    .filter((file) => path.basename(file) === name)
    .map((file) => pathOf(path.dirname(file)));

import { cp, mkdir, readdir, rm, symlink, writeFile } from "node:fs/promises";
import path from "node:path";
import { projectRoot, startProcess } from "../support/processes/processes";

/**
 * A production build with one additional route, so that the cost of Next itself is measured in the same
 * application.
 */
export type Product = { folder: string; close(): Promise<void> };

/** The path of the route that does nothing: below `/api`, where no proxy adds its cost. */
export const FLOOR_PATH = "/api/floor";
const FLOOR_ROUTE = `export const GET = () => Response.json({ ok: true });\nexport const POST = GET;\n`;

/**
 * Below the project, as the bundler requires for the packages, and where git, the compiler and the linter do
 * not look.
 */
const folder = path.join(projectRoot, "tests", ".artifacts", "bench-product");
const NOT_COPIED = /^(\.(?!github$).*|node_modules|tests|package-lock\.json|.*\.md|.*\.tsbuildinfo)$/;
const buildMaxMs = 300_000;

/** Copies the tree and builds it with `npm run build`. */
export async function buildProduct(): Promise<Product> {
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  for (const entry of await readdir(projectRoot))
    if (!NOT_COPIED.test(entry))
      await cp(path.join(projectRoot, entry), path.join(folder, entry), { recursive: true });
  await symlink(path.join(projectRoot, "node_modules"), path.join(folder, "node_modules"));
  const route = path.join(folder, "app", FLOOR_PATH);
  await mkdir(route, { recursive: true });
  await writeFile(path.join(route, "route.js"), FLOOR_ROUTE);

  const build = await startProcess("npm", ["run", "build"], {
    cwd: folder,
    env: { NEXT_TELEMETRY_DISABLED: "1", NODE_ENV: "production" },
  });
  const late = setTimeout(() => void build.killTree(), buildMaxMs);
  const { code } = await build.exited;
  clearTimeout(late);
  if (code !== 0) throw new Error(`The build of the product failed:\n${build.output}`);
  return { folder, close: () => rm(folder, { recursive: true, force: true }) };
}

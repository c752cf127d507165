import { readFile } from "node:fs/promises";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { build, type Plugin } from "esbuild";

/** `import.meta.url` stays the place of the source, beside which other files lie; `import.meta.filename` is what runs. */
const knowsItsSource: Plugin = {
  name: "knows-its-source",
  setup({ onLoad }) {
    onLoad({ filter: /\.ts$/ }, async ({ path: file }) => ({
      contents: (await readFile(file, "utf8")).replaceAll(
        "import.meta.url",
        JSON.stringify(pathToFileURL(file).href),
      ),
      loader: "ts",
    }));
  },
};

/**
 * Compiles programs of ours into a folder, each to `name.mjs`, with all that they import of ours; packages are found where
 * they are installed. To read the sources at each start takes longer than everything else that a start does.
 */
export async function compilePrograms(sources: readonly string[], folder: string): Promise<void> {
  await build({
    entryPoints: [...sources],
    outdir: path.resolve(folder),
    outExtension: { ".js": ".mjs" },
    bundle: true,
    splitting: true,
    sourcemap: true,
    packages: "external",
    platform: "node",
    format: "esm",
    target: "node20",
    plugins: [knowsItsSource],
  });
}

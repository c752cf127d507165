/** The files and folders that are allowed at the top level of the repository. */
const ALLOWED: ReadonlySet<string> = new Set([
  "app",
  "server",
  "db",
  "tests",
  "next.config.ts",
  "drizzle.config.ts",
  "package.json",
  "tsconfig.json",
  "README.md",
  "instrumentation.ts",
  "package-lock.json",
  "LICENSE",
  "proxy.ts",
  "postcss.config.mjs",
  "Dockerfile",
  "compose.yaml",
  "vercel.json",
]);

/** The names at the top level that are not allowed. Dotfiles and ignored files are allowed. */
export function strayNames(names: readonly string[], gitignore: string): string[] {
  const ignored = gitignore
    .split("\n")
    .map((line) => line.trim().replace(/\/$/, ""))
    .filter((line) => line !== "" && !line.startsWith("#"));
  const isIgnored = (name: string) =>
    ignored.some((pattern) =>
      pattern.startsWith("*.") ? name.endsWith(pattern.slice(1)) : pattern.replace(/^\//, "") === name,
    );
  return names.filter((name) => !ALLOWED.has(name) && !name.startsWith(".") && !isIgnored(name));
}

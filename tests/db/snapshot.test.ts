import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { generateDrizzleJson } from "drizzle-kit/api";
import { expect, test } from "vitest";

const db = fileURLToPath(new URL("../../db", import.meta.url));
const newestOf = (folder: string, end: string) =>
  path.join(
    folder,
    readdirSync(folder)
      .filter((name) => name.endsWith(end))
      .sort()
      .at(-1) ?? "",
  );

// `npm run db:generate` compares the schema with this snapshot. A column that is missing in it would be added
// a second time.
test("the newest migration describes the schema completely", async () => {
  const modules = readdirSync(path.join(db, "schema")).map((name) => import(path.join(db, "schema", name)));
  const schema = Object.assign({}, ...(await Promise.all(modules)));
  const { tables } = generateDrizzleJson(schema, undefined, undefined, "snake_case");
  const snapshot = JSON.parse(
    readFileSync(newestOf(path.join(db, "migrations/meta"), "_snapshot.json"), "utf8"),
  );
  expect(JSON.parse(JSON.stringify(tables))).toEqual(snapshot.tables);
});

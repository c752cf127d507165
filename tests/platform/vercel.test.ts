import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { readSettings, type SettingsError } from "#server/platform/env/settings";
import { SETTINGS } from "#server/platform/env/table";
import { routes } from "#server/rest/routes";

const read = (file: string) => readFileSync(new URL(`../../${file}`, import.meta.url), "utf8");
const page = read("app/docs/guides/vercel.md");

test("Vercel calls an existing route once a day, because a more frequent schedule fails on Hobby", () => {
  const { crons, buildCommand } = JSON.parse(read("vercel.json"));
  expect(crons).toHaveLength(1);
  expect(routes.map(({ method, path }) => `${method} ${path}`)).toContain(`GET ${crons[0].path}`);
  expect(crons[0].schedule).toMatch(/^\d{1,2} \d{1,2} \* \* \*$/);
  const scripts = JSON.parse(read("package.json")).scripts;
  expect(buildCommand).toBe("npm run build:vercel");
  expect(scripts["build:vercel"]).toMatch(/^next build && .*prepare-production\.ts$/);
});

test("the deploy button asks for every variable of the page and for all that are required", () => {
  const [, link = "", ...others] = page.split(/vercel\.com\/new\/clone/);
  expect(others).toEqual([]);
  const asked = new URLSearchParams((link.split(")")[0] ?? "").slice(1)).get("env")?.split(",") ?? [];
  const table = page.slice(page.indexOf("## Deploy"), page.indexOf("## Call the tick"));
  const listed = [...table.matchAll(/^\| (`[^|]*`) \|/gm)].flatMap(([, names = ""]) =>
    names.match(/[A-Z_]{3,}/g),
  );
  expect([...asked].sort()).toEqual(listed.sort());
  expect(asked.filter((name) => !(name in SETTINGS))).toEqual([]);
  const required = (() => {
    try {
      return readSettings({}, "vercel") && [];
    } catch (error) {
      return (error as SettingsError).faults.map(({ name }) => name);
    }
  })();
  expect(asked).toEqual(expect.arrayContaining(required));
});

import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { forAllTests } from "../support/fixtures";
import { projectRoot, runToExit, startProcess, startTsx } from "../support/processes/processes";
import { createWebhookWorld } from "../support/webhook-world";

const world = forAllTests(() => createWebhookWorld());
let folder: string;
/** The command, copied away from the project: it must not need anything of it. */
let program: string;
beforeAll(async () => {
  folder = mkdtempSync(path.join(tmpdir(), "backstamp-push-"));
  program = path.join(folder, "tool", "push-templates.mjs");
  mkdirSync(path.dirname(program));
  cpSync(path.join(projectRoot, "server/startup/push/push-templates.mjs"), program);
});
afterAll(async () => {
  rmSync(folder, { recursive: true, force: true });
});

let mails: string;
beforeEach(() => {
  mails = mkdtempSync(path.join(folder, "mails-"));
});
const write = (name: string, text: string) => writeFileSync(path.join(mails, name), text);
const installPackages = () =>
  symlinkSync(path.join(projectRoot, "node_modules"), path.join(mails, "node_modules"));

const settings = () => ({ BACKSTAMP_URL: world.baseUrl, BACKSTAMP_KEY: world.token });
const push = async (args: string[], env: Record<string, string | undefined> = settings()) =>
  runToExit(await startProcess(process.execPath, [program, ...args], { cwd: mails, env }));
const template = async (alias: string) =>
  (await world.api("GET", `/api/templates/${alias}`, { token: world.token })).body;

describe("template push", () => {
  test("creates a template, then changes its draft, and publishes it on request", async () => {
    write("Order Receipt.html", "<p>One {{#each items}}{{name}}{{/each}}</p>");
    const created = await push(["Order Receipt.html", "--subject", "Order {{order}}", "--name", "Receipt"]);
    expect(created).toMatchObject({ code: 0, stderr: "" });
    expect(created.stdout).toBe("Order Receipt.html: created and published (order-receipt)\n");
    const first = await template("order-receipt");
    expect(first).toMatchObject({
      name: "Receipt",
      subject: "Order {{order}}",
      html: "<p>One {{#each items}}{{name}}{{/each}}</p>",
      text: null,
      status: "published",
      has_unpublished_versions: false,
    });

    expect((await push(["Order Receipt.html"])).stdout).toMatch(/: unchanged \(order-receipt\)/);
    expect(await template("order-receipt")).toEqual(first);

    write("Order Receipt.html", "<p>Two</p>");
    write("text.txt", "Two\n");
    expect((await push(["Order Receipt.html", "--text", "text.txt"])).stdout).toMatch(/: updated as a draft/);
    expect(await template("order-receipt")).toMatchObject({
      id: first.id,
      name: "Receipt",
      subject: "Order {{order}}",
      html: "<p>Two</p>",
      text: "Two\n",
      has_unpublished_versions: true,
      published_version_id: first.published_version_id,
    });
    expect((await push(["Order Receipt.html", "--publish"])).stdout).toMatch(/: published/);
    expect(await template("order-receipt")).toMatchObject({ has_unpublished_versions: false });
  });

  test("reads the address and the key from options, and pushes several files", async () => {
    write("a-1.html", "<p>A <% x %></p>");
    write("a-2.html", "<p>B</p>");
    write("key", `${world.token}\n`);
    const pushed = await push(
      ["a-1.html", "a-2.html", "--url", `${world.baseUrl}/`, "--key-file", "key"],
      {},
    );
    expect(pushed.stdout.split("\n")).toHaveLength(3);
    expect(pushed.stderr).toMatch(/^a-1\.html: warning: `html` has `<% x %>`/);
    expect((await template("a-2")).html).toBe("<p>B</p>");
  });

  test("renders MJML with the package of the folder, and reports what is not valid", async () => {
    installPackages();
    const section = (content: string) =>
      `<mjml><mj-body><mj-section><mj-column>${content}</mj-column></mj-section></mj-body></mjml>`;
    write("news.mjml", section("<mj-text>Hello {{name}}</mj-text><mj-raw>{{#if x}}<b>x</b>{{/if}}</mj-raw>"));
    expect(await push(["news.mjml"])).toMatchObject({ code: 0, stderr: "" });
    const { html, variables } = await template("news");
    expect(html).toMatch(/<!doctype html>[\s\S]*<table[\s\S]*Hello \{\{name\}\}/i);
    expect((variables as { key: string }[]).map(({ key }) => key).sort()).toEqual(["name", "x"]);
    write("bad.mjml", section("<mj-unknown>x</mj-unknown>"));
    const bad = await push(["bad.mjml"]);
    expect(bad).toMatchObject({ code: 1, stdout: "" });
    expect(bad.stderr).toMatch(/bad\.mjml is not valid MJML:\n.*mj-unknown/);
    expect(await template("bad")).toMatchObject({ statusCode: 404 });
  });

  test("renders a React component with its template props and subject, and leaves no file behind", async () => {
    installPackages();
    write("greeting.ts", `export const greeting = "Hello";`);
    write(
      "invite.tsx",
      `import { greeting } from "./greeting";
      export const subject = "Join {{team}}";
      export const templateProps = { name: "{{name}}" };
      export default function Invite({ name }: { name: string }) {
        return <html lang="en"><body><p>{greeting} {name}</p></body></html>;
      }`,
    );
    expect(await push(["invite.tsx"])).toMatchObject({ code: 0, stderr: "" });
    expect(await template("invite")).toMatchObject({
      subject: "Join {{team}}",
      html: expect.stringMatching(/<html lang="en">.*<p>Hello.*\{\{name\}\}<\/p>/s),
    });
    expect(readdirSync(mails).sort()).toEqual(["greeting.ts", "invite.tsx", "node_modules"]);
  });

  test.each([
    ["x.mjml", /x\.mjml needs mjml\. Install it in .*: npm install --save-dev mjml\n/],
    [
      "x.tsx",
      /x\.tsx needs esbuild and react and @react-email\/render\. .* npm install --save-dev esbuild react/,
    ],
  ])("names the packages that %s needs", async (name, message) => {
    write(name, "x");
    const before = await world.rowCounts();
    const ended = await push([name]);
    expect(ended).toMatchObject({ code: 1, stdout: "" });
    expect(ended.stderr).toMatch(message);
    expect(await world.rowCounts()).toEqual(before);
  });

  const installMjml = (exports: object, source: string) => {
    const home = path.join(mails, "node_modules", "mjml");
    mkdirSync(home, { recursive: true });
    writeFileSync(
      path.join(home, "package.json"),
      JSON.stringify({ name: "mjml", version: "9.0.0", type: "module", exports }),
    );
    writeFileSync(path.join(home, "index.js"), source);
  };

  test("loads a package that has no entry for `require`", async () => {
    installMjml({ import: "./index.js" }, "export default async (source) => ({ html: source.trim() });");
    write("esm-only.mjml", "<p>{{name}}</p>\n");
    expect(await push(["esm-only.mjml"])).toMatchObject({ code: 0, stderr: "" });
    expect((await template("esm-only")).html).toBe("<p>{{name}}</p>");
    expect(readdirSync(mails).sort()).toEqual(["esm-only.mjml", "node_modules"]);
  });

  test("names the error of an installed package that cannot be loaded", async () => {
    installMjml({ import: "./index.js" }, `throw new Error("built for another system");`);
    write("x.mjml", "x");
    const ended = await push(["x.mjml"]);
    expect(ended).toMatchObject({ code: 1, stdout: "" });
    expect(ended.stderr).toMatch(/The package mjml cannot be loaded: .*another system/);
    expect(ended.stderr).not.toContain("npm install");
  });

  test.each([
    ["Überblick.html", "uberblick"],
    ["Überblick 2.html".normalize("NFD"), "uberblick-2"],
  ])("derives a valid alias from %s", async (name, alias) => {
    write(name, "<p>x</p>");
    expect(await push([`./${name}`])).toMatchObject({
      code: 0,
      stderr: "",
      stdout: expect.stringContaining(`(${alias})`),
    });
    expect(await template(alias)).toMatchObject({ alias, html: "<p>x</p>" });
  });

  test("names --alias for a file whose name has no letter or digit of an alias", async () => {
    write("Обзор.html", "<p>x</p>");
    write("fine.html", "<p>x</p>");
    const before = (await world.rowCounts()).templates;
    const ended = await push(["fine.html", "Обзор.html"]);
    expect(ended).toMatchObject({ code: 2, stdout: "" });
    expect(ended.stderr).toMatch(/Обзор\.html.*--alias/);
    expect((await world.rowCounts()).templates).toBe(before);
    expect(await push(["Обзор.html", "--alias", "obzor"])).toMatchObject({ code: 0, stderr: "" });
  });

  test("rejects two files with the same alias by their names, before anything is sent", async () => {
    mkdirSync(path.join(mails, "more"));
    for (const name of ["first.html", "Same Name.html", "more/same-name.htm"]) write(name, "<p>x</p>");
    const before = (await world.rowCounts()).templates;
    const ended = await push(["first.html", "Same Name.html", "more/same-name.htm"]);
    expect(ended).toMatchObject({ code: 2, stdout: "" });
    expect(ended.stderr).toMatch(/Same Name\.html and more\/same-name\.htm .*same-name.*--alias/);
    expect((await world.rowCounts()).templates).toBe(before);
  });

  test.each<[what: string, args: string[], env: object, code: number, message: RegExp]>([
    ["no address", ["x.html"], { BACKSTAMP_URL: undefined }, 2, /Set --url or BACKSTAMP_URL/],
    ["no key", ["x.html"], { BACKSTAMP_KEY: undefined }, 2, /Set BACKSTAMP_KEY/],
    ["no file", [], {}, 2, /^Usage: backstamp template push/],
    ["an unknown option", ["x.html", "--force"], {}, 2, /--force[\s\S]*Usage:/],
    ["one alias for two files", ["x.html", "y.html", "--alias", "x"], {}, 2, /one file at a time/],
    ["a template with an error", ["wrong.html"], {}, 1, /`html`: .*is not closed.*line 1, column 4/],
    ["no server", ["x.html"], { BACKSTAMP_URL: "http://127.0.0.1:1" }, 1, /does not respond/],
  ])("with %s changes nothing and says what is wrong", async (_, args, env, code, message) => {
    write("x.html", "<p>x</p>");
    write("y.html", "<p>y</p>");
    write("wrong.html", "<p>{{#if a}}</p>");
    const before = (await world.rowCounts()).templates;
    const ended = await push(args, { ...settings(), ...env });
    expect(ended.stderr).toMatch(message);
    expect({ code: ended.code, stdout: ended.stdout }).toEqual({ code, stdout: "" });
    expect((await world.rowCounts()).templates).toBe(before);
  });

  test("with a key that lacks the permission says so, and what would work", async () => {
    write("x.html", "<p>x</p>");
    const { token } = await world.key({ scopes: ["emails:send"] });
    const ended = await push(["x.html"], { ...settings(), BACKSTAMP_KEY: token });
    expect(ended).toMatchObject({ code: 1, stdout: "" });
    expect(ended.stderr).toMatch(/^template push: This key lacks the scope templates:read\. .*key that has/);
  });

  test("is also a command of the operator's command line, without a database", async () => {
    const file = path.join(mails, "by-operator.html");
    writeFileSync(file, "<p>x</p>");
    const env = { ...settings(), DATABASE_URL: "postgres://127.0.0.1:1/none" };
    const ended = await runToExit(
      await startTsx("server/startup/admin.ts", ["template", "push", file], { env }),
    );
    expect(ended).toMatchObject({ code: 0, stdout: `${file}: created and published (by-operator)\n` });
  });
});

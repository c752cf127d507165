import { readdirSync } from "node:fs";
import path from "node:path";
import { NextRequest } from "next/server";
import { describe, expect, test } from "vitest";
import { ROLES, type Role } from "#db/schema/teams";
import { provideConsoleDeps } from "#server/auth/deps";
import { newId } from "#server/platform/ids";
import { type FileCall, fileCalls } from "../console/calls/files";
import { cookiesOf, openConsole } from "../support/console/console";
import { createRoleTeam, isPermitted } from "../support/console/role-teams";
import { watchSecrets } from "../support/console/secrets";
import { watchWrites } from "../support/database/write-watch";
import { projectRoot } from "../support/processes/processes";
import { sampleOf } from "./sample";

/*
 * Every route file of the console, found in the source tree, is called by every role, without a session, and
 * with ids of other teams and unknown ids. Route files must follow the same rules as procedures.
 */

const root = path.join(projectRoot, "app/console");
const folders = readdirSync(root, { recursive: true, encoding: "utf8" })
  .filter((file) => path.basename(file) === "route.ts")
  .map((file) => path.dirname(file));

const console = await openConsole();
const secrets = watchSecrets(console);
provideConsoleDeps(console.deps);
const ann = await createRoleTeam(console, "Ann's");
const ben = await createRoleTeam(console, "Ben's");
await secrets.addSecrets(ann);
const calls = fileCalls(console);
const writes = await watchWrites(console.world.hot);

type Handler = (request: NextRequest, context: { params: Promise<object> }) => Promise<Response>;
type Asked = { by: string | null; team: string; input: Record<string, string>; origin?: string };

const callOf = (folder: string): FileCall => {
  const call = calls[folder];
  if (!call) throw new Error(`Add "${folder}" to tests/console/calls/files.ts`);
  return call;
};

/** Calls the route handler itself, as Next.js would. */
async function callFile(
  folder: string,
  { by, team, input, origin = console.deps.url }: Asked,
): Promise<{ status: number; text: string }> {
  const params: Record<string, string> = {};
  const place = folder.replace(/\[(\w+)\]/g, (_, name: string) => {
    params[name] = input[name] ?? "";
    return encodeURIComponent(params[name]);
  });
  const { body: csv, isForm } = callOf(folder);
  const url = new URL(`${console.deps.url}/console/${place}`);
  for (const [name, value] of Object.entries({ team, ...(isForm ? {} : input) }))
    if (!(name in params)) url.searchParams.set(name, value);
  const body = isForm ? new URLSearchParams(input).toString() : csv;
  const session = by && (await cookiesOf((await console.session(by)).id)).get("__Host-backstamp.session");
  const request = new NextRequest(url, {
    headers: {
      ...(session && { cookie: `__Host-backstamp.session=${session.value}` }),
      ...(body !== undefined && {
        origin,
        "content-type": isForm ? "application/x-www-form-urlencoded" : "text/csv",
        "content-length": String(body.length),
      }),
    },
    ...(body !== undefined && { method: "POST", body }),
  });
  const { GET, POST }: Record<string, Handler | undefined> = await import(
    path.join(root, folder, "route.ts")
  );
  const handler = body === undefined ? GET : POST;
  if (!handler) throw new Error(`${folder} takes no such call`);
  const response = await handler(request, { params: Promise.resolve(params) });
  expect(response.headers.get("content-security-policy")).toMatch(/^sandbox; default-src 'none'/);
  return { status: response.status, text: await response.text() };
}

test("every entry of the table has a route file", () => {
  expect(Object.keys(calls).sort()).toEqual([...folders].sort());
});

describe.each(sampleOf(folders))("%s", (folder) => {
  test("is available only to roles with its permission", async () => {
    const { permission, input } = callOf(folder);
    for (const role of ROLES) {
      const given = await input(ann);
      await writes.since();
      const asked = { by: ann.userIds[role as Role], team: ann.teamId, input: given };
      const { status, text } = await callFile(folder, asked);
      expect(status, role).toBe(isPermitted(role, permission) ? 200 : 403);
      secrets.record(folder, { ok: true, data: text });
      const written = await writes.since(ann.teamId);
      // The export of personal data is recorded.
      expect(written.length > 0).toBe(
        ["suppressions/import", "settings/personal-data/export"].includes(folder) && status === 200,
      );
    }
    const input_ = await input(ann);
    expect((await callFile(folder, { by: null, team: ann.teamId, input: input_ })).status).toBe(401);
  });

  test("returns not found for a team that the caller is not a member of", async () => {
    const input = await callOf(folder).input(ann);
    await writes.since();
    const by = ben.userIds.owner;
    const foreign = await callFile(folder, { by, team: ann.teamId, input });
    expect(foreign.status).toBe(404);
    expect(plain((await callFile(folder, { by, team: newId(), input })).text)).toBe(plain(foreign.text));
    expect(await writes.since(ann.teamId)).toEqual([]);
  });

  test("rejects what a page of another site posts", async () => {
    const { body, isForm, input } = callOf(folder);
    if (body === undefined && !isForm) return;
    const asked = { by: ann.userIds.owner, team: ann.teamId, input: await input(ann) };
    await writes.since();
    for (const origin of ["https://other.example", "null"])
      expect((await callFile(folder, { ...asked, origin })).status, origin).toBe(403);
    expect(await writes.since(ann.teamId)).toEqual([]);
  });

  test("responds to ids of another team as to unknown ids", async () => {
    const { names, input } = callOf(folder);
    const by = ben.userIds.owner;
    for (const name of names) {
      const theirs = (await input(ann))[name] ?? "";
      const own = await input(ben);
      const [foreign, missing] = [
        await callFile(folder, { by, team: ben.teamId, input: { ...own, [name]: theirs } }),
        await callFile(folder, { by, team: ben.teamId, input: { ...own, [name]: newId() } }),
      ];
      expect(foreign.status, name).toBe(missing.status);
      expect(plain(foreign.text), name).toBe(plain(missing.text));
    }
  });

  test("never fails with a server error on odd URLs", async () => {
    const { input } = callOf(folder);
    const good = await input(ann);
    const by = ann.userIds.owner;
    for (const name of Object.keys({ ...good, team: "", isAdmin: "", search: "" }))
      for (const odd of [
        "",
        "\0",
        "a\0b",
        "%00",
        "../..",
        "x".repeat(3_000),
        "'",
        "{",
        "\ufffd",
        "__proto__",
      ]) {
        const asked =
          name === "team"
            ? { by, team: odd, input: good }
            : { by, team: ann.teamId, input: { ...good, [name]: odd } };
        expect(
          (await callFile(folder, asked)).status,
          `${name} ${JSON.stringify(odd).slice(0, 20)}`,
        ).toBeLessThan(500);
      }
  });
});

test("no file contains a secret", async () => {
  expect(await secrets.findLeaks(console.world.hot)).toEqual([]);
});

/** The response without the requested ids and the request id. */
const plain = (text: string): string => text.replace(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, "<id>");

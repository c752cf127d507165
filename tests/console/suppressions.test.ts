import { beforeEach, describe, expect, test } from "vitest";
import { BODY_TIMEOUTS, createBodyBudget } from "#server/platform/limits/body-budget";
import { unsubscribe } from "#server/services/suppressions/unsubscribe";
import { answerExport, answerImport, type ImportLine } from "#server/trpc/suppressions/files";
import type { SuppressionRow } from "#server/trpc/suppressions/suppressions";
import { openConsole } from "../support/console/console";
import { createRoleTeam } from "../support/console/role-teams";

type Rows = { rows: SuppressionRow[]; hasMore: boolean };
type Pasted = {
  added: number;
  changed: number;
  existing: number;
  rejected: { text: string; reason: string }[];
};

const console = await openConsole();
const ann = await createRoleTeam(console, "Ann's");
beforeEach(async () => {
  await console.world.hot`delete from suppressions`;
  await console.world.hot`delete from audit_log`;
});

const call = <T>(procedure: string, input: object) =>
  ann.data<T>("member", `suppressions.${procedure}`, input);
const add = (text: string) => call<Pasted>("add", { text });
const list = (input: object = {}) => call<Rows>("list", input);
const found = async (input: object) => (await list(input)).rows.map(({ email }) => email);
const audited = async () =>
  (await ann.audit()).map(({ action, subjectName: name, detail }) => ({ action, name, ...detail })).reverse();

describe("a pasted list", () => {
  test("is split at lines, commas and semicolons, and invalid addresses are reported with a reason", async () => {
    const pasted = await add(
      "ann@example.com, Ben <Ben@Example.com>;\r\n\n nobody\n@\ncy@exämple.com\nann@EXAMPLE.com",
    );
    expect(pasted).toEqual({
      added: 3,
      changed: 0,
      existing: 0,
      rejected: [
        { text: "nobody", reason: expect.stringMatching(/\S{5}/) },
        { text: "@", reason: expect.stringMatching(/\S{5}/) },
      ],
    });
    expect((await found({})).sort()).toEqual(["ann@example.com", "ben@example.com", "cy@xn--exmple-cua.com"]);
    expect(await add("ann@example.com\nnew@example.com")).toMatchObject({ added: 1, existing: 1 });
  });

  test("and removals are audited: one with its address, several with their count", async () => {
    await add("one@example.com");
    await add("two@example.com\nthree@example.com");
    await add("one@example.com");
    const { rows } = await list();
    await call("remove", { ids: rows.map(({ id }) => id) });
    await call("remove", { ids: rows.map(({ id }) => id) });
    expect(await audited()).toEqual([
      { action: "suppression.removed", name: null, count: 3, origins: ["manual"] },
      { action: "suppression.added", name: null, count: 2 },
      { action: "suppression.added", name: "one@example.com", count: 1 },
    ]);
  });
});

describe("the suppression list", () => {
  test("finds addresses by prefix, in alphabetical order, page by page", async () => {
    const many = Array.from({ length: 27 }, (_, n) => `reader-${String(n).padStart(2, "0")}@example.com`);
    await add([...many].reverse().join("\n"));
    await add("red@example.com\n_@example.com");
    const first = await list({ search: "Reader-" });
    const second = await list({ search: "reader-", after: first.rows.at(-1)?.id });
    expect([...first.rows, ...second.rows].map(({ email }) => email)).toEqual(many);
    expect([first.hasMore, second.hasMore]).toEqual([true, false]);
    expect((await list({ search: "reader-", before: second.rows[0]?.id })).rows).toEqual(first.rows);
    expect(await found({ search: "_" })).toEqual(["_@example.com"]);
  });

  test("finds a complete address in any letter case", async () => {
    await add("cy@exämple.com");
    for (const search of ["cy@exämple.com", "Cy <CY@exämple.com>", "cy@xn--exmple-cua.com", "cy@"])
      expect(await found({ search }), search).toEqual(["cy@xn--exmple-cua.com"]);
  });

  test("shows the bounced email, the server's response, and unsubscribes", async () => {
    const sender = "ann@backstamp.test";
    const sent = await console.world.send({ sender, to: ["delivered@backstamp.test"] }, ann.ctx);
    await console.deliver();
    await console.world.hot`
      insert into suppressions (team_id, id, address, origin, source_email_id)
      select ${ann.teamId}, gen_random_uuid(), 'delivered@backstamp.test', 'bounce', ${sent.id}`;
    await console.world.hot`
      update deliveries set last_code = 550, last_enhanced = '5.1.1', last_text = 'No such user' where email_id = ${sent.id}`;
    const tired = { teamId: ann.teamId, emailId: sent.id, address: "tired@example.com" };
    await unsubscribe(console.deps, tired, "all");
    expect((await list({ origin: "bounce" })).rows).toEqual([
      expect.objectContaining({
        source_id: sent.id,
        source: { reply: "550 5.1.1 No such user" },
        lists_only: false,
      }),
    ]);
    expect((await list({ search: "tired" })).rows).toEqual([
      expect.objectContaining({
        origin: "unsubscribe",
        lists_only: true,
        source_id: sent.id,
        source: { reply: null },
      }),
    ]);
    await console.world.hot`delete from emails where id = ${sent.id}`;
    expect((await list({ origin: "bounce" })).rows).toEqual([expect.objectContaining({ source: null })]);
  });
});

describe("an imported file", () => {
  const origin = "https://mail.example.org";
  const upload = async (body: string, headers: Record<string, string> = {}) => {
    const bytes = new TextEncoder().encode(body);
    const request = new Request(`${origin}/console/suppressions/import`, {
      method: "POST",
      body: bytes,
      headers: { origin, "content-type": "text/csv", "content-length": String(bytes.length), ...headers },
    });
    const response = await answerImport(console.deps, request, await ann.cookies("member"), ann.teamId);
    const lines = (await response.text()).split("\n").filter(Boolean);
    return { status: response.status, lines: lines.map((line) => JSON.parse(line) as ImportLine) };
  };

  test("is read completely before anything is written, and reports progress and result", async () => {
    await add("known@example.com");
    const file = ["name,email", "x,new@example.com", "x,known@example.com", "x,nobody"];
    const { status, lines } = await upload(`${file.join("\n")}\n`);
    expect(status).toBe(200);
    expect(lines.slice(0, -1)).toEqual([{ written: 2, of: 2 }]);
    expect(lines.at(-1)).toEqual({
      done: {
        added: 1,
        addedBy: { bounce: 0, complaint: 0, unsubscribe: 0, manual: 1 },
        changed: 0,
        existing: 1,
        repeated: 0,
        unknownReasons: 0,
        unreadDates: 0,
        faulty: 1,
        faults: [{ line: 4, message: expect.stringMatching(/\S{5}/) }],
      },
    });
    expect((await audited())[0]).toEqual({ action: "suppression.imported", name: null, count: 1 });
  });

  test("whose upload stalls is aborted, and changes nothing", async () => {
    const sizes = { bodyMaxBytes: 1024, filesMaxBytes: 1024 };
    const bodies = createBodyBudget(sizes, { ...BODY_TIMEOUTS, idleMs: 200 });
    const request = new Request(`${origin}/console/suppressions/import`, {
      method: "POST",
      body: new ReadableStream({
        start: (controller) => controller.enqueue(new TextEncoder().encode("email\nann@example.com\n")),
      }),
      headers: { origin, "content-type": "text/csv", "content-length": "1000" },
      duplex: "half",
    } as RequestInit);
    const response = await answerImport(
      { ...console.deps, bodies },
      request,
      await ann.cookies("member"),
      ann.teamId,
    );
    expect(JSON.parse(await response.text())).toMatchObject({
      error: { message: expect.stringContaining("did not arrive in time") },
    });
    expect(await found({})).toEqual([]);
  });

  test("is rejected before it is read with another type, or if too large", async () => {
    const file = "email\na@example.com\n";
    expect((await upload(file, { "content-type": "multipart/form-data; boundary=x" })).status).toBe(415);
    expect((await upload(file, { "content-length": "90000000" })).status).toBe(413);
    expect(await found({})).toEqual([]);
  });

  test("exported from the list applies the list's filters, and rejects other filters", async () => {
    await add("ann@example.com\nAnna@example.com\nben@example.com");
    await console.world.hot`update suppressions set origin = 'bounce' where address = 'anna@example.com'`;
    const wanted = { cookies: await ann.cookies("viewer"), team: ann.teamId };
    const addresses = async (query: Record<string, string>) => {
      const response = await answerExport(console.deps, wanted, query);
      const [, ...lines] = (await response.text()).trim().split("\r\n");
      return lines.map((line) => /[\w.]+@[\w.]+/.exec(line)?.[0]).sort();
    };
    expect(await addresses({ search: "Ann" })).toEqual(["ann@example.com", "anna@example.com"]);
    expect(await addresses({ search: "ann", origin: "bounce" })).toEqual(["anna@example.com"]);
    expect(await addresses({ search: "nobody" })).toEqual([]);
    expect((await answerExport(console.deps, wanted, { origin: "elsewhere" })).status).toBe(422);
  });
});

import { expect, test } from "vitest";
import { callApi, startRest } from "../support/rest";
import { openTestApp } from "./test-app";

const app = await openTestApp();

const path = "/api/emails/batch?dry_run=true";

test("a batch is not composed: no text is converted, and the messages have no headers and no size", async () => {
  const converted: string[] = [];
  const convertToText = async (_: string, given: string) => {
    converted.push(given);
    return "converted";
  };
  const { world, token, validEmail } = app;
  const counting = await startRest({ ...world.deps, convertToText });
  const call = (to: string, body: unknown) => callApi(counting.baseUrl, "POST", to, { token, body });
  const html = "<table><tr><td><h2>Offer</h2><p>Dear <b>reader</b></p></td></tr></table>".repeat(2_000);
  const emails = [{ html }, { text: "Mine" }, { text: "" }].map((more) => ({ ...validEmail, ...more }));
  expect((await call(path, emails)).body.data).toMatchObject([
    { message: { text: null, text_source: "at_delivery", headers: null, size: null } },
    { message: { text: "Mine", text_source: "given", headers: null, size: null } },
    { message: { text: null, text_source: "none", headers: null, size: null } },
  ]);
  expect(converted).toEqual([]);
  await call("/api/emails?dry_run=true", emails[0]);
  await counting.close();
  expect(converted).toEqual([html]);
});

test("a single email is composed, with the text that delivery converts from deeply nested HTML", async () => {
  const email = { ...app.validEmail, html: `${"<ul><li>".repeat(18_000)}x` };
  const { message } = await app.ok("POST", "/api/emails?dry_run=true", email);
  expect(message).toMatchObject({ text: "x", text_source: "converted", size: expect.any(Number) });
});

test("other work runs between the emails of a batch, whether it is sent or simulated", async () => {
  let turn = 0;
  const turns = new Set<number>();
  const now = () => {
    turns.add(turn);
    return new Date("2026-11-22T09:13:00Z");
  };
  const { world, token, validEmail } = app;
  const observed = await startRest({ ...world.deps, clock: now });
  let isOver = false;
  const count = () => {
    turn += 1;
    if (!isOver) setImmediate(count);
  };
  setImmediate(count);
  const emails = Array.from({ length: 100 }, () => ({ ...validEmail, scheduled_at: "in 1 hour" }));
  for (const target of [path, "/api/emails/batch"]) {
    turns.clear();
    const { status, text } = await callApi(observed.baseUrl, "POST", target, { token, body: emails });
    expect(status, text).toBe(200);
    expect(turns.size).toBeGreaterThanOrEqual(100);
  }
  isOver = true;
  await observed.close();
});

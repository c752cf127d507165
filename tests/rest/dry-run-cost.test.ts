import { expect, test } from "vitest";
import { callApi, startRest } from "../support/rest";
import { openTestApp } from "./test-app";

const app = await openTestApp();

type Run = { message: { text: string | null; text_source: string; size: number | null } };
const path = "/api/emails/batch?dry_run=true";

const newsletterOf = (chars: number) => {
  const story = "<table><tr><td><h2>Offer</h2><p>Dear <b>reader</b></p></td></tr></table>";
  return story.repeat(Math.ceil(chars / story.length));
};

async function runsOf(emails: object[]): Promise<Run["message"][]> {
  const { status, body, text } = await app.world.api("POST", path, {
    token: app.token,
    body: emails,
  });
  expect(status, text).toBe(200);
  return (body.data as Run[]).map(({ message }) => message);
}

test("a batch is not composed: no text is converted, and the messages have no headers and no size", async () => {
  const long = { ...app.validEmail, html: newsletterOf(140_000) };
  const messages = await runsOf([long, { ...app.validEmail, text: "Mine" }, { ...app.validEmail, text: "" }]);
  expect(messages).toMatchObject([
    { text: null, text_source: "at_delivery", headers: null, size: null },
    { text: "Mine", text_source: "given", headers: null, size: null },
    { text: null, text_source: "none", headers: null, size: null },
  ]);
});

test("a single email is composed, with the text that delivery converts from deeply nested HTML", async () => {
  const { body } = await app.world.api("POST", "/api/emails?dry_run=true", {
    token: app.token,
    body: { ...app.validEmail, html: `${"<ul><li>".repeat(18_000)}x` },
  });
  const { message } = body as unknown as Run;
  expect(message).toMatchObject({ text: "x", text_source: "converted" });
  expect(message.size).toBeGreaterThan(100);
});

test("no conversion is requested for a batch, and one for a single email", async () => {
  const html = newsletterOf(140_000);
  const converted: string[] = [];
  const convertToText = async (_: string, given: string) => {
    converted.push(given);
    return "converted";
  };
  const { world, token, validEmail } = app;
  const counting = await startRest({ ...world.deps, convertToText });
  const emails = Array.from({ length: 3 }, () => ({ ...validEmail, html }));
  const batch = await callApi(counting.baseUrl, "POST", path, { token, body: emails });
  expect(batch.status, batch.text).toBe(200);
  expect(converted).toEqual([]);
  await callApi(counting.baseUrl, "POST", "/api/emails?dry_run=true", { token, body: emails[0] });
  await counting.close();
  expect(converted).toEqual([html]);
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

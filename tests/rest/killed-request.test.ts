import { randomUUID } from "node:crypto";
import { afterAll, expect, test } from "vitest";
import { startTap } from "../support/database/database-tap";
import { installationSecret } from "../support/deps";
import { startChild } from "../support/processes/child";
import { compiledOf } from "../support/processes/program";
import { callApi } from "../support/rest";
import { freePort } from "../support/servers/free-port";
import { openWorld } from "../support/world";
import { EMAIL } from "./test-app";

const SUBJECT = "An email whose web process dies";
const BODY = { ...EMAIL, subject: SUBJECT };

const world = await openWorld();
const { token } = await world.key();
const url = new URL(world.databaseUrl);
const tap = await startTap({ host: url.hostname, port: Number(url.port) });
url.port = String(tap.port);
const port = await freePort();
const doomed = startChild<{ port: number }>(await compiledOf("tests/support/processes/web-process.ts"), [], {
  DATABASE_URL: url.href,
  PORT: String(port),
  BACKSTAMP_URL: "http://localhost:3000",
  BACKSTAMP_SECRET: installationSecret,
  SMTP_URL: "capture:",
});
await doomed.waitFor((message): message is { port: number } => "port" in message);
const doomedUrl = `http://127.0.0.1:${port}`;
afterAll(async () => {
  await doomed.kill();
  await tap.close();
});

test("after a process was killed between its commit and its response, another one responds immediately: one email", async () => {
  const call = { token, body: BODY, headers: { "idempotency-key": randomUUID() } };
  const held = tap.holdAt("down", SUBJECT);
  const first = callApi(doomedUrl, "POST", "/api/emails", call).then(
    () => "answered",
    () => "cut",
  );
  await held;
  await doomed.kill();
  expect(await first).toBe("cut");

  const again = await world.api("POST", "/api/emails", call);
  expect(again.status).toBe(200);
  expect(again.headers["idempotent-replayed"]).toBe("true");
  const rows = await world.hot`select id from emails where subject = ${SUBJECT}`;
  expect(rows).toEqual([{ id: again.body.id }]);
  const other = await world.api("POST", "/api/emails", { ...call, body: { ...BODY, html: "<p>Twice</p>" } });
  expect(other.status).toBe(409);
});

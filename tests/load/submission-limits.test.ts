import { afterEach, beforeEach, expect, test } from "vitest";
import { type SubmissionListener, startSubmission } from "#server/submission/listener";
import { openClient, plainLogin, type RawClient } from "../submission/client";
import { forEachTest } from "../support/fixtures";
import { createWorld } from "../support/world";

const world = forEachTest(() => createWorld());
let listener: SubmissionListener;
let token: string;
let clients: RawClient[];
const OPTIONS = {
  host: "0.0.0.0",
  port: 0,
  name: "mail.example.com",
  certificate: null,
  isImplicitTls: false,
};
beforeEach(async () => {
  token = (await world.key()).token;
  clients = [];
  listener = await startSubmission(world.deps, OPTIONS);
});
afterEach(async () => {
  for (const { socket } of clients) socket.destroy();
  await listener.close();
});

async function open(host: number): Promise<RawClient> {
  const client = await openClient(listener.port, `127.0.0.${host}`);
  clients.push(client);
  return client;
}

test("an address has at most ten connections without a login; connections with one do not count", async () => {
  for (let n = 0; n < 12; n += 1) {
    const client = await open(2);
    await client.send("EHLO app.example.com");
    expect(await client.send(plainLogin(token))).toMatch(/^235/);
  }
  for (let n = 0; n < 10; n += 1) expect(await (await open(2)).send("EHLO a.example.com")).toMatch(/^250/);
  expect(await (await open(2)).send("EHLO a.example.com")).toBe("closed");
  expect(await clients[0]?.send("NOOP")).toMatch(/^250/);
});

test("with all places taken, the longest idle connection without a login is closed for a new one", async () => {
  for (let n = 0; n < 50; n += 1) await open(10 + Math.floor(n / 10));
  const late = await open(30);
  expect(await late.send("EHLO app.example.com")).toMatch(/^250/);
  expect(await late.send(plainLogin(token))).toMatch(/^235/);
  expect(await clients[0]?.nextReply()).toMatch(/^421 4\.7\.0 Idle/);
});

test("after three failed logins the connection is closed", async () => {
  const client = await open(2);
  await client.send("EHLO app.example.com");
  const wrong = plainLogin("re_wrong_0000000000000000");
  expect(await client.send(wrong)).toMatch(/^535/);
  expect(await client.send(wrong)).toMatch(/^535/);
  expect(await client.send(wrong)).toMatch(/^421 4\.7\.0/);
  expect(await client.nextReply()).toBe("closed");
});

test("a connection that is closed during its login does not count as one of the team's", async () => {
  let lookups = 0;
  const admit: (() => void)[] = [];
  await listener.close();
  const authenticate = async (given: string) => {
    if (++lookups <= 100) await new Promise<void>((resolve) => admit.push(resolve));
    return world.deps.authenticate(given);
  };
  listener = await startSubmission({ ...world.deps, authenticate }, OPTIONS);
  for (let batch = 1; batch <= 4; batch += 1) {
    const group = await Promise.all(Array.from({ length: 25 }, (_, n) => open(40 + 3 * batch + (n % 3))));
    await Promise.all(group.map((client) => client.send("EHLO app.example.com")));
    for (const { socket } of group) socket.write(`${plainLogin(token)}\r\n`);
    await expect.poll(() => lookups).toBe(25 * batch);
    for (const { socket } of group) socket.resetAndDestroy();
  }
  const last = await open(60);
  await last.send("EHLO app.example.com");
  for (const release of admit) release();
  expect(await last.send(plainLogin(token))).toMatch(/^235/);
});

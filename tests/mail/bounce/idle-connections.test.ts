import { connect, type Socket } from "node:net";
import nodemailer from "nodemailer";
import { afterEach, expect, test, vi } from "vitest";
import { type Listener, startListener } from "#server/mail/bounce/listener";
import { silentLog } from "#server/platform/log";
import { readLines } from "../../support/processes/read-lines";

const OURS = "bounce-token@bounces.example.com";

let listener: Listener;
let taken: string[];
let clients: Client[];
afterEach(async () => {
  vi.useRealTimers();
  for (const { socket } of clients) socket.destroy();
  await listener.close();
});

async function listen(): Promise<void> {
  taken = [];
  clients = [];
  listener = await startListener({
    host: "0.0.0.0",
    port: 0,
    name: "mail.example.com",
    isOurs: (address) => address === OURS,
    receive: async (_bytes, recipients) => {
      taken.push(...recipients);
      return "done";
    },
    log: silentLog,
    firstCommandMs: 60_000,
  });
}

type Client = { socket: Socket; send(line: string): Promise<string>; heard(): Promise<string> };

/** A client that connects from this local address and has received the greeting. */
async function open(localAddress: string): Promise<Client> {
  const socket = connect({ port: listener.port, host: "127.0.0.1", localAddress });
  socket.on("error", () => {});
  const lines = readLines(socket);
  const heard = async () => {
    for (let line = await lines.next(); line !== null; line = await lines.next())
      if (line[3] !== "-".charCodeAt(0)) return line.toString("latin1");
    return "closed";
  };
  const send = (line: string) => {
    socket.write(`${line}\r\n`);
    return heard();
  };
  const client = { socket, send, heard };
  clients.push(client);
  expect(await heard()).toMatch(/^220 /);
  return client;
}

const openClients = (host: number, count: number) =>
  Array.from({ length: count }, () => open(`127.0.0.${host}`));

async function bring(localAddress: string): Promise<number> {
  const options = { host: "127.0.0.1", port: listener.port, ignoreTLS: true, localAddress };
  const transport = nodemailer.createTransport(options);
  try {
    const { response } = await transport.sendMail({
      envelope: { from: "", to: OURS },
      raw: "Subject: x\r\n\r\nx\r\n",
    });
    return Number(response.slice(0, 3));
  } catch (error) {
    return Number((error as { responseCode?: number }).responseCode ?? 0);
  } finally {
    transport.close();
  }
}

test("if five addresses use all 50 connections, a sixth is served, and the oldest idle connection is closed", async () => {
  await listen();
  const oldest = await open("127.0.0.1");
  clients = [];
  await Promise.all([1, 2, 3, 4, 5].flatMap((host) => openClients(host, host === 1 ? 9 : 10)));
  expect(await bring("127.0.0.6")).toBe(250);
  expect(taken).toEqual([OURS]);
  expect(await oldest.heard()).toMatch(/^421 4\.7\.0 /);
  expect(await oldest.heard()).toBe("closed");
  // No other connection was closed, and one address still has at most ten.
  for (const client of clients) expect(await client.send("NOOP")).toMatch(/^250 /);
  expect(await bring("127.0.0.5")).toBe(421);
});

test("a connection that transfers a message stays open, and one that only sends NOOP does not", async () => {
  await listen();
  const first = await open("127.0.0.1");
  for (const line of ["EHLO me", "MAIL FROM:<>", `RCPT TO:<${OURS}>`, "DATA"]) await first.send(line);
  const second = await open("127.0.0.1");
  await second.send("EHLO me");
  await Promise.all([2, 3, 4, 5, 6].flatMap((host) => openClients(host, host === 2 ? 8 : 10)));
  expect(await second.send("NOOP")).toMatch(/^250 /);
  expect(await bring("127.0.0.7")).toBe(250);
  expect(await second.heard()).toMatch(/^421 /);
  expect(await first.send("Subject: x\r\n\r\nx\r\n.")).toMatch(/^250 /);
  expect(taken).toEqual([OURS, OURS]);
});

test("a connection without a first command is closed sooner than one after EHLO", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"], shouldAdvanceTime: true });
  await listen();
  const polite = await open("127.0.0.1");
  await polite.send("EHLO me");
  const silent = await open("127.0.0.1");
  vi.advanceTimersByTime(60_000);
  expect(await silent.heard()).toMatch(/^421 4\.4\.2 /);
  expect(await silent.heard()).toBe("closed");
  expect(await polite.send("NOOP")).toMatch(/^250 /);
});

import { connect, type Socket } from "node:net";
import nodemailer from "nodemailer";
import { afterEach, expect, test } from "vitest";
import { type Listener, startListener } from "#server/mail/bounce/listener";
import type { Log } from "#server/platform/log";
import { createGate } from "../../support/gate";
import { readLines } from "../../support/processes/read-lines";

type Accepted = { bytes: Buffer; recipients: readonly string[] };

let listener: Listener;
let taken: Accepted[];
let logged: { event: string; facts: unknown }[];
afterEach(() => listener.close());

async function listen(
  receive: (one: Accepted) => Promise<"done" | "later"> = async () => "done",
  messageBytesMax?: number,
): Promise<void> {
  taken = [];
  logged = [];
  const note = (event: string, facts?: unknown) => void logged.push({ event, facts });
  const log: Log = { info: note, warn: note, error: note };
  listener = await startListener({
    host: "127.0.0.1",
    port: 0,
    name: "mail.example.com",
    isOurs: (address) => /^bounce-[a-z]+@/i.test(address),
    receive: async (bytes, recipients) => {
      const answer = await receive({ bytes: Buffer.from(bytes), recipients });
      if (answer === "done") taken.push({ bytes: Buffer.from(bytes), recipients });
      return answer;
    },
    log,
    messageBytesMax,
  });
}

/** Sends one message and returns the reply code: 250, or the code of the rejection. */
async function bring(
  to: string | string[],
  raw: string | Buffer = "Subject: x\r\n\r\nx\r\n",
  from = "",
): Promise<number> {
  const transport = nodemailer.createTransport({ host: "127.0.0.1", port: listener.port, ignoreTLS: true });
  try {
    const { response } = await transport.sendMail({ envelope: { from, to }, raw });
    return Number(response.slice(0, 3));
  } catch (error) {
    return Number((error as { responseCode?: number }).responseCode ?? 0);
  } finally {
    transport.close();
  }
}

const OURS = "bounce-token@bounces.example.com";

test("accepts messages to our return paths, from the null sender and any other, unchanged", async () => {
  await listen();
  const raw = `Subject: x\r\n\r\n..dots\r\n\xe9${"line\r\n".repeat(1_000)}`;
  expect(await bring(OURS, Buffer.from(raw, "latin1"))).toBe(250);
  expect(await bring(OURS.toUpperCase(), raw, "mailer-daemon@example.net")).toBe(250);
  expect(taken[0]).toEqual({ bytes: Buffer.from(`${raw}`, "latin1"), recipients: [OURS] });
  expect(taken).toHaveLength(2);
});

test.each(["nobody@bounces.example.com", "bounce-1@bounces.example.com", "ann@example.net"])(
  "rejects %s with 550 and accepts no message",
  async (address) => {
    await listen();
    expect(await bring(address)).toBe(550);
    expect(taken).toEqual([]);
    await listener.close();
    expect(logged).toContainEqual({
      event: "inbound.refused",
      facts: { recipients: 1, connections: 0, messages: 0, oversized: 0, idle: 0 },
    });
  },
);

test("accepts only our own among several recipients, and processes them at once", async () => {
  await listen();
  expect(await bring([OURS, "nobody@example.net", "bounce-other@bounces.example.com"])).toBe(250);
  expect(taken.map(({ recipients }) => recipients)).toEqual([[OURS, "bounce-other@bounces.example.com"]]);
});

test("replies 250 only after the report is recorded, and 451 if recording failed or has to wait", async () => {
  let answer: () => Promise<"done" | "later"> = () => Promise.reject(new Error("the database is away"));
  await listen(() => answer());
  expect(await bring(OURS)).toBe(451);
  expect(logged).toContainEqual({
    event: "inbound.not_recorded",
    facts: { message: "the database is away" },
  });
  answer = async () => "later";
  expect(await bring(OURS)).toBe(451);
  expect(taken).toEqual([]);
  const { passed: committed, open: commit } = createGate();
  let isAnswered = false;
  answer = async () => {
    await committed;
    expect(isAnswered).toBe(false);
    return "done";
  };
  const submit = bring(OURS).then((code) => {
    isAnswered = true;
    return code;
  });
  commit();
  expect(await submit).toBe(250);
});

test("reads the first MB of a large message, and rejects messages above the limit, which is 32 MB", async () => {
  await listen();
  expect(await converse(["EHLO me", `MAIL FROM:<> SIZE=${32 * 1024 * 1024 + 1}`])).toContain("552");
  expect(await converse(["EHLO me", `MAIL FROM:<> SIZE=${32 * 1024 * 1024}`])).not.toContain("552");
  await listener.close();
  await listen(undefined, 2 * 1024 * 1024);
  const messageOf = (bytes: number) =>
    Buffer.concat([Buffer.from("Subject: x\r\n\r\n"), Buffer.alloc(bytes, "line\r\n")]);
  const large = messageOf(1.5 * 1024 * 1024);
  expect(await bring(OURS, large)).toBe(250);
  expect(taken[0]?.bytes.equals(large.subarray(0, 1024 * 1024))).toBe(true);
  expect(await bring(OURS, messageOf(2.5 * 1024 * 1024))).toBe(552);
  expect(taken).toHaveLength(1);
});

/**
 * Sends the lines one by one, each after the reply to the previous one, and disconnects. Returns the reply
 * codes.
 */
async function converse(lines: readonly string[], lastReply = ""): Promise<string[]> {
  const socket = connect(listener.port, "127.0.0.1");
  socket.on("error", () => {});
  const replies = readLines(socket);
  const codes: string[] = [];
  const rest = [...lines];
  for (let line = await replies.next(); line !== null; line = await replies.next()) {
    if (line[3] === "-".charCodeAt(0)) continue;
    codes.push(line.toString("latin1", 0, 3));
    const next = rest.shift();
    if (next === undefined) socket.end(lastReply);
    else socket.write(`${next}\r\n`);
  }
  return codes;
}

test("has no login, no TLS and no VRFY, and rejects clients that violate the protocol", async () => {
  await listen();
  expect(await converse(["EHLO me", "AUTH PLAIN AGEAYg==", "STARTTLS", "VRFY ann"])).toEqual([
    "220",
    "250",
    "500",
    "500",
    "500",
  ]);
  expect(await converse(["EHLO me", "DATA", `RCPT TO:<${OURS}>`])).toEqual(["220", "250", "503", "503"]);
});

test("closes the connection of a client that guesses addresses", async () => {
  await listen();
  const guesses = Array.from({ length: 20 }, (_, n) => `RCPT TO:<bounce-${n}@bounces.example.com>`);
  const codes = await converse(["EHLO me", "MAIL FROM:<>", ...guesses]);
  expect(codes).toEqual(["220", "250", "250", ...Array.from({ length: 9 }, () => "550"), "421"]);
});

test("accepts ten connections from one address, and more after those are closed", async () => {
  await listen();
  const sockets: Socket[] = [];
  const greeted = (socket: Socket) =>
    new Promise<string>((resolve) => socket.once("data", (bytes) => resolve(bytes.toString().slice(0, 3))));
  for (let n = 0; n < 10; n += 1) {
    const socket = connect(listener.port, "127.0.0.1");
    sockets.push(socket);
    expect(await greeted(socket)).toBe("220");
  }
  expect(await greeted(connect(listener.port, "127.0.0.1"))).toBe("421");
  for (const socket of sockets) socket.destroy();
  await expect.poll(() => bring(OURS), { timeout: 10_000 }).toBe(250);
});

test("discards an incomplete message", async () => {
  await listen();
  const lines = ["EHLO me", "MAIL FROM:<>", `RCPT TO:<${OURS}>`, "DATA"];
  const codes = await converse(lines, "Subject: x\r\n\r\nhalf");
  expect(codes.slice(0, 5)).toEqual(["220", "250", "250", "250", "354"]);
  expect(await bring(OURS)).toBe(250);
  expect(taken).toHaveLength(1);
});

test("fails to start if the port is in use", async () => {
  await listen();
  const options = { host: "127.0.0.1", port: listener.port, name: "x" };
  const log: Log = { info() {}, warn() {}, error() {} };
  await expect(
    startListener({ ...options, isOurs: () => false, receive: async () => "done", log }),
  ).rejects.toMatchObject({ code: "EADDRINUSE" });
});

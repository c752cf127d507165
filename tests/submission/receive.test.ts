import { beforeEach, expect, test, vi } from "vitest";
import { AppError } from "#server/platform/errors";
import { PARSE_SUBMISSION } from "#server/submission/message";
import { type Arrival, receiveMessage } from "#server/submission/receive";
import { forEachTest } from "../support/fixtures";
import { createWorld } from "../support/world";

const world = forEachTest(() => createWorld());
let arrival: Arrival;
const HEAD = "From: ann@example.org\r\nTo: ben@example.net\r\nSubject: Hello\r\n\r\n";

beforeEach(async () => {
  const { token } = await world.key();
  const key = await world.deps.authenticate(token);
  if (!key) throw new Error("The key is invalid.");
  arrival = { key, token, agent: null, requestId: "0190a1b2-0000-7000-8000-000000000000" };
});

test("a message that the memory budget rejects while the client stalls is not accepted", async () => {
  const rejection = new AbortController();
  const claim = { ...world.deps.bodies.open("team:x"), signal: rejection.signal };
  const bodies = { ...world.deps.bodies, open: () => claim };
  async function* stream() {
    yield Buffer.from(HEAD);
    rejection.abort(new AppError("unavailable", "The memory for large requests is full."));
  }
  const receiving = receiveMessage({ ...world.deps, bodies }, arrival, stream(), ["ben@example.net"]);
  await expect(receiving).rejects.toThrow("The memory for large requests is full.");
  expect(await world.hot`select from emails`).toHaveLength(0);
});

test("a message whose stream fails is not accepted, and its memory is free", async () => {
  const claim = world.deps.bodies.open("team:x");
  const release = vi.spyOn(claim, "release");
  async function* stream() {
    yield Buffer.from(HEAD);
    throw new Error("Connection closed before the message was received in full");
  }
  const bodies = { ...world.deps.bodies, open: () => claim };
  expect(await receiveMessage({ ...world.deps, bodies }, arrival, stream(), ["ben@example.net"])).toBeNull();
  expect(release).toHaveBeenCalledOnce();
  expect(await world.hot`select from emails`).toHaveLength(0);
});

test("a message of many small chunks is kept in few blocks", async () => {
  const lines = Array.from({ length: 5_000 }, (_, n) => `.line ${n}\r\n`);
  async function* stream() {
    yield Buffer.from(HEAD);
    for (const line of lines) yield Buffer.from(line);
  }
  const concat = vi.spyOn(Buffer, "concat");
  const id = await receiveMessage(world.deps, arrival, stream(), ["ben@example.net"]);
  expect(Math.max(...concat.mock.calls.map(([list]) => list.length))).toBeLessThan(10);
  concat.mockRestore();
  const [email] = await world.hot`select id from emails`;
  expect(email?.id).toBe(id);
  const [body] = await world.hot`select text from email_bodies`;
  expect(body?.text).toBe(lines.join("").replaceAll("\r\n", "\n"));
});

test("a long message is read beside the thread that serves others, and so are its faults", async () => {
  const readHere = vi.spyOn(PARSE_SUBMISSION, "read");
  const receive = async (message: string) => {
    async function* stream() {
      yield Buffer.from(message);
    }
    return receiveMessage(world.deps, arrival, stream(), ["ben@example.net"]);
  };
  const type = 'Content-Type: multipart/mixed; boundary="B"\r\n';
  const attached = `--B\r\nContent-Disposition: attachment; filename="a.txt"\r\nContent-Transfer-Encoding: base64\r\n\r\nYSBmaWxl\r\n`;
  const long = "word ".repeat(20).concat("\r\n").repeat(1_000);
  const id = await receive(`${type}${HEAD}--B\r\n\r\n${long}\r\n${attached}--B--\r\n`);
  const [body] = await world.hot`select text from email_bodies`;
  expect(body?.text).toBe(long.replaceAll("\r\n", "\n"));
  const [file] = await world.hot`select content from attachments where email_id = ${id}`;
  expect(String(file?.content)).toBe("a file");
  const second = receive(`Subject: Again\r\n${HEAD}${long}`);
  await expect(second).rejects.toThrow("The message has more than one subject header. Send it once.");
  expect(readHere).not.toHaveBeenCalled();
  await receive(`${HEAD}short`);
  expect(readHere).toHaveBeenCalledOnce();
  readHere.mockRestore();
});

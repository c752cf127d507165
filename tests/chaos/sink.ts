import { mkdirSync } from "node:fs";
import { open } from "node:fs/promises";
import { createServer, type Server, type Socket } from "node:net";
import path from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { createSecureContext, TLSSocket } from "node:tls";
import { readLines } from "../support/processes/read-lines";
import { makeCertificate } from "../support/servers/certificate";
import {
  addressOf,
  type Behavior,
  behaviorOf,
  DESTINATIONS,
  type Destination,
  type SmtpFault,
  type SmtpStep,
} from "./internet";
import type { ServerFault } from "./records";

/** The point at which a message can be held: before it is read, or after it is on disk. */
export type HoldPoint = "unread" | "written";
/** Commands to the sink: hold the next message of one worker, release it, reject logins. */
export type SinkOrder = { hold: { at: HoldPoint; of: string } | null } | { refusesLogin: boolean };
/** Messages of the sink: its port, once; that a message is held; what it did intentionally. */
export type SinkReport = { port: number } | { held: HoldPoint } | { serverFault: ServerFault };

/** One stored message. `writtenAtMs` was measured after it was flushed to disk. */
export type StoredMessage = {
  to: string[];
  from: string;
  /** The EHLO name of the sender. */
  client: string;
  messageId: string | null;
  subject: string | null;
  /** Rejected: the sender got a rejection. */
  isRefused: boolean;
  writtenAtMs: number;
};

const hangMs = 30_000;
const folder = process.argv[2] ?? "";
mkdirSync(folder, { recursive: true });
const certificate = makeCertificate();
let count = 0;
let hold: { at: HoldPoint; of: string } | null = null;
let refusesLogin = false;
/** For each destination, how often the step at which it fails occurred, also for one recipient. */
const occurrences = new Map<string, number>();

const send = (report: SinkReport) => process.send?.(report);

type Envelope = { from: string; to: string[] };

/**
 * One SMTP conversation with a server that replies 250 only for a message that is flushed to its own file.
 * Every message that it accepted can be counted afterwards, whatever was killed meanwhile. It fails as its
 * behavior prescribes.
 */
async function serve(plain: Socket, name: Destination): Promise<void> {
  const behavior: Behavior = behaviorOf(name);
  let socket: Socket = plain;
  let lines = readLines(socket);
  let envelope: Envelope = { from: "", to: [] };
  let client = "";
  const write = async (text: string) => {
    if (behavior.delayMs) await wait(behavior.delayMs);
    socket.write(`${text}\r\n`, "latin1");
  };
  /** Does what was decided, or replies as usual. False: the conversation is over. */
  const perform = async (smtpFault: SmtpFault | null, usual: string): Promise<boolean> => {
    if (smtpFault === null) {
      if (usual !== "") await write(usual);
      return true;
    }
    if (smtpFault === "hang") await wait(hangMs);
    if (typeof smtpFault === "object") await write(smtpFault.reply);
    if (typeof smtpFault === "object" && !smtpFault.hangsUp) return true;
    if (typeof smtpFault === "object") socket.end();
    else plain.resetAndDestroy();
    return false;
  };
  const answer = (step: SmtpStep, usual: string, recipients: string[] = []) =>
    perform(decide(name, behavior, step, recipients), usual);

  if (!(await answer("greeting", `220 ${name}.test ESMTP`))) return;
  for (;;) {
    const line = (await lines.next())?.toString("latin1");
    if (line === undefined) return;
    const verb = line.slice(0, 4).toUpperCase();
    const address = /<([^>]*)>/.exec(line)?.[1] ?? "";
    if (verb === "EHLO" || verb === "HELO") {
      client = line.slice(5).trim();
      const offers = [
        ...(behavior.tls && socket === plain ? ["STARTTLS"] : []),
        ...(name === "relay" ? ["AUTH PLAIN"] : []),
      ];
      const words = [`${name}.test`, ...offers, "PIPELINING", "8BITMIME"];
      const reply = words.map((word, n) => `250${n < words.length - 1 ? "-" : " "}${word}`).join("\r\n");
      if (!(await answer("ehlo", reply))) return;
    } else if (verb === "STAR") {
      const smtpFault = decide(name, behavior, "starttls", []);
      if (smtpFault !== null) {
        if (!(await perform(smtpFault, ""))) return;
        continue;
      }
      if (behavior.tls === "broken") {
        await write("220 go\r\nthis is no TLS at all");
        return void plain.end();
      }
      lines.stop();
      socket.write(behavior.tls === "injected" ? "220 go\r\n250 injected\r\n" : "220 go\r\n");
      socket = new TLSSocket(plain, { isServer: true, secureContext: createSecureContext(certificate) });
      socket.on("error", () => plain.destroy());
      lines = readLines(socket);
    } else if (verb === "AUTH") await write(refusesLogin ? "535 5.7.8 not you" : "235 2.7.0 welcome");
    else if (verb === "MAIL") {
      envelope = { from: address, to: [] };
      if (!(await answer("mail", "250 2.1.0 ok"))) return;
    } else if (verb === "RCPT") {
      const smtpFault = decide(name, behavior, "rcpt", [address]);
      if (smtpFault === null || (typeof smtpFault === "object" && smtpFault.reply.startsWith("250")))
        envelope.to.push(address);
      if (!(await perform(smtpFault, "250 2.1.5 ok"))) return;
    } else if (verb === "DATA") {
      const smtpFault = decide(name, behavior, "data", envelope.to);
      if (!(await perform(smtpFault, "354 go ahead"))) return;
      if (smtpFault === null && !(await takeMessage())) return;
    } else if (verb === "QUIT") {
      await write("221 2.0.0 bye");
      return void socket.end();
    } else await write(verb === "RSET" || verb === "NOOP" ? "250 2.0.0 ok" : "500 5.5.2 what?");
  }

  /** Reads a message to its dot, stores it and replies. False: the conversation is over. */
  async function takeMessage(): Promise<boolean> {
    await holdAt("unread", client);
    const body: string[] = [];
    for (let isFirst = true; ; isFirst = false) {
      const line = (await lines.next())?.toString("latin1");
      if (line === undefined) return false;
      if (isFirst && !(await answer("body", "", envelope.to))) return false;
      if (line === ".") break;
      body.push(line);
    }
    const smtpFault = decide(name, behavior, "dot", envelope.to);
    const isRefused = smtpFault !== null && typeof smtpFault === "object";
    if (!isRefused || behavior.storesRejected) await keep(envelope, client, body.join("\n"), isRefused);
    await holdAt("written", client);
    const continues = await perform(smtpFault, "250 2.0.0 kept");
    envelope = { from: "", to: [] };
    return continues;
  }
}

/**
 * The reply at this step, by the behavior and the number of earlier occurrences. Anything unusual is
 * reported.
 */
function decide(
  name: Destination,
  { serverFault }: Behavior,
  step: SmtpStep,
  recipients: string[],
): SmtpFault | null {
  if (serverFault?.step !== step) return null;
  const occurrence = `${name}${serverFault.when === "first" ? recipients.join() : ""}`;
  const nth = occurrences.get(occurrence) ?? 0;
  occurrences.set(occurrence, nth + 1);
  const isDue = { third: nth % 3 === 0, twice: nth < 2, first: nth === 0, always: true }[serverFault.when];
  if (!isDue) return null;
  send({ serverFault: { kind: name, step, recipients, atMs: Date.now() } });
  return serverFault.smtpFault;
}

async function keep({ from, to }: Envelope, client: string, text: string, isRefused: boolean): Promise<void> {
  const message: Omit<StoredMessage, "writtenAtMs"> = {
    from,
    client,
    to,
    messageId: /^Message-ID: *<([^>]*)>/im.exec(text)?.[1] ?? null,
    subject: /^Subject: *(.*)$/im.exec(text)?.[1]?.trim() ?? null,
    isRefused,
  };
  const file = await open(path.join(folder, `${String(count++).padStart(6, "0")}.json`), "wx");
  await file.writeFile(JSON.stringify(message));
  await file.sync();
  // Only now is the time of the flush known. A file without a time was never confirmed.
  await file.truncate(0);
  await file.write(JSON.stringify({ ...message, writtenAtMs: Date.now() }), 0);
  await file.sync();
  await file.close();
}

async function holdAt(point: HoldPoint, client: string): Promise<void> {
  if (hold?.at !== point || !client.startsWith(hold.of)) return;
  const mine = hold;
  send({ held: point });
  while (hold === mine) await wait(2);
}

process.on("message", (order: SinkOrder) => {
  if ("hold" in order) hold = order.hold;
  else refusesLogin = order.refusesLogin;
});
process.on("disconnect", () => process.exit());

function listen(name: Destination, port: number): Promise<Server> {
  const server = createServer({ noDelay: true }, (socket) => {
    // Killed clients break their connections; that is expected.
    socket.on("error", () => socket.destroy());
    serve(socket, name).catch(() => socket.destroy());
  });
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, addressOf(name), () => resolve(server));
  });
}

const names = Object.keys(DESTINATIONS) as Destination[];
const [first = "ok", ...others] = names;
const address = (await listen(first, 0)).address();
const port = address && typeof address === "object" ? address.port : 0;
for (const name of others) await listen(name, port);
send({ port });

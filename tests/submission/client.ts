import { connect, type Socket } from "node:net";
import nodemailer from "nodemailer";
import type { SMTPTransportOptions } from "nodemailer/lib/smtp-transport";
import { expect } from "vitest";
import { readLines } from "../support/processes/read-lines";

export type SentMessage = { code: number; reply: string };
type Submitted = { from?: string; to?: string | string[]; raw: string | Buffer };

/** Submits one message with nodemailer. Returns the code and the text of the last reply. */
export async function submit(
  port: number,
  token: string,
  { from = "bounces@elsewhere.example", to = "ben@example.net", raw }: Submitted,
  options: SMTPTransportOptions = {},
): Promise<SentMessage> {
  const transport = nodemailer.createTransport({
    host: "127.0.0.1",
    port,
    auth: { user: "backstamp", pass: token },
    ...options,
  });
  try {
    const { response } = await transport.sendMail({ envelope: { from, to }, raw });
    return { code: Number(response.slice(0, 3)), reply: response };
  } catch (error) {
    const { responseCode = 0, response = String(error) } = error as {
      responseCode?: number;
      response?: string;
    };
    return { code: responseCode, reply: response };
  } finally {
    transport.close();
  }
}

/** The id of the email in the reply to an accepted message. */
export const idIn = (reply: string): string => /Accepted as ([0-9a-f-]{36})/.exec(reply)?.[1] ?? reply;

export type RawClient = {
  socket: Socket;
  /** Sends a line and returns the whole reply. */
  send(line: string | Buffer): Promise<string>;
  nextReply(): Promise<string>;
};

/** A client that sends bytes as given. Its greeting was received. */
export async function openClient(port: number, localAddress = "127.0.0.1"): Promise<RawClient> {
  const socket = connect({ port, host: "127.0.0.1", localAddress });
  socket.on("error", () => {});
  const lines = readLines(socket);
  const nextReply = async () => {
    let reply = "";
    for (let line = await lines.next(); line !== null; line = await lines.next()) {
      reply += `${line.toString("latin1")}\n`;
      if (line[3] !== "-".charCodeAt(0)) return reply.trim();
    }
    return "closed";
  };
  const send = (line: string | Buffer) => {
    socket.write(typeof line === "string" ? `${line}\r\n` : line);
    return nextReply();
  };
  await nextReply();
  return { socket, send, nextReply };
}

export const plainLogin = (token: string, user = "backstamp"): string =>
  `AUTH PLAIN ${Buffer.from(`\0${user}\0${token}`).toString("base64")}`;

/** A client that has logged in with this key. */
export async function openLoggedIn(port: number, token: string): Promise<RawClient> {
  const client = await openClient(port);
  await client.send("EHLO app.example.com");
  expect(await client.send(plainLogin(token))).toMatch(/^235/);
  return client;
}

/** A client that may send its message next. */
export async function openInMessage(port: number, token: string): Promise<RawClient> {
  const client = await openLoggedIn(port, token);
  await client.send("MAIL FROM:<a@example.org>");
  await client.send("RCPT TO:<ben@example.net>");
  expect(await client.send("DATA")).toMatch(/^354/);
  return client;
}

import { describeConnectionError } from "../describe-connection-error";
import { type Connection, REPLY_BYTES_MAX } from "./connection";
import { writeContent } from "./content";

export type Dialogue = ReturnType<typeof startDialogue>;

/**
 * Our own commands and replies over the socket of a connection that is set up. The connection breaks at a
 * reply that no command awaits, at one that is too long, after 421, and when the server closes its side.
 */
export function startDialogue(connection: Connection, host: string) {
  const { transcript } = connection;
  const socket = connection.takeSocket();
  const reader = createReplyReader();
  let awaited = 0;
  let settle = () => {};

  const breakOff = (what: string) => connection.break({ reason: `${host} ${what}` });
  const close = () => breakOff("closed the connection.");

  function receive(reply: string): void {
    if (connection.isBroken()) return;
    if (awaited === 0) {
      breakOff(`violated the SMTP protocol: unexpected reply ${reply}`);
      return;
    }
    transcript.reply(reply);
    awaited -= 1;
    if (awaited === 0) settle();
    if (reply.startsWith("421")) close();
  }

  function onData(chunk: Buffer): void {
    const replies = reader.read(chunk);
    for (const reply of replies ?? []) receive(reply);
    if (replies === null) breakOff("violated the SMTP protocol: the reply is too long.");
    else if (awaited === 0) connection.stopTimeout();
    else if (replies.length > 0) connection.restartTimeout();
  }

  // A server that closed its side sends no more replies. It may not read either, so nothing more is written.
  function onEnd(): void {
    const rest = reader.rest();
    if (rest !== "") receive(rest);
    close();
  }

  socket.on("data", onData);
  socket.on("end", onEnd);
  socket.on("close", onEnd);
  socket.on("error", (error) =>
    connection.break({ reason: `The connection to ${host} was lost: ${describeConnectionError(error)}` }),
  );
  connection.onClose(() => {
    awaited = 0;
    settle();
  });

  /** Resolves after so many replies, or when the connection breaks. */
  function awaitReplies(count: number): Promise<void> {
    awaited = count;
    return new Promise((resolve) => {
      settle = resolve;
    });
  }

  return {
    /**
     * Sends commands in one write. Resolves when each has its reply in the transcript, or the connection is
     * broken. Over a broken connection it sends and records nothing.
     */
    async exchange(commands: readonly string[]): Promise<void> {
      if (connection.isBroken()) return;
      for (const command of commands) transcript.command(command);
      connection.restartTimeout();
      socket.write(`${commands.join("\r\n")}\r\n`);
      await awaitReplies(commands.length);
    },
    /**
     * Sends the content of a message, and its final dot if `mayEnd` returns true directly before it. Resolves
     * at the reply, which may come before the dot, or when the connection breaks. The result is whether the
     * dot may have reached the server.
     */
    async transfer(content: Uint8Array, mayEnd: () => boolean): Promise<boolean> {
      if (connection.isBroken()) return false;
      let isDotReleased = false;
      const replied = awaitReplies(1);
      void writeContent(socket, content, {
        mayContinue() {
          if (awaited > 0) connection.restartTimeout("blockMs");
          return awaited > 0;
        },
        mayEnd() {
          if (awaited === 0 || !mayEnd()) return false;
          isDotReleased = true;
          transcript.command(".");
          connection.restartTimeout();
          return true;
        },
      });
      await replied;
      return isDotReleased;
    },
  };
}

/**
 * Reads replies of one or several lines, however they are divided into packets. A line ends with LF or CRLF;
 * empty lines between replies are skipped. Takes linear time.
 */
function createReplyReader() {
  let lines = "";
  let rest = "";
  return {
    /** The replies that this chunk completes; `null` if the next one exceeds the limit. */
    read(chunk: Buffer): string[] | null {
      const replies: string[] = [];
      const text = chunk.toString("latin1");
      let start = 0;
      for (let end = text.indexOf("\n"); end !== -1; end = text.indexOf("\n", start)) {
        const line = rest + text.slice(start, end);
        rest = "";
        start = end + 1;
        lines += line.endsWith("\r") ? line.slice(0, -1) : line;
        if (/^[0-9]{3}-/.test(line)) lines += "\n";
        else {
          if (lines.trim() !== "") replies.push(decodeReply(lines));
          lines = "";
        }
        if (lines.length > REPLY_BYTES_MAX) return null;
      }
      rest += text.slice(start);
      return lines.length + rest.length > REPLY_BYTES_MAX ? null : replies;
    },
    /** The last line, if the server closed its side before the end of it. */
    rest: (): string => decodeReply(rest.trim()),
  };
}

/** Replies have no declared charset: UTF-8, or else Latin-1. */
function decodeReply(bytes: string): string {
  if (!/[^\0-\x7f]/.test(bytes)) return bytes;
  const text = Buffer.from(bytes, "latin1").toString();
  return text.includes("\ufffd") ? bytes : text;
}

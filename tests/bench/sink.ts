import { createServer, type Socket } from "node:net";
import { listenOnLoopback } from "../support/servers/free-port";

/**
 * A minimal SMTP server: it detects line ends and the final dot, and stores nothing. `onMessage` is called
 * for each message with its last recipient, in the form of the command.
 */
export async function openSink(
  onMessage: (recipient: string) => void = () => {},
): Promise<{ port: number; close(): Promise<void> }> {
  const server = createServer((socket) => converse(socket, onMessage));
  return {
    port: await listenOnLoopback(server),
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
}

/** Answers one client. */
export function converse(socket: Socket, onMessage: (recipient: string) => void = () => {}): void {
  let rest = "";
  let recipient = "";
  let inBody = false;
  socket.setNoDelay(true).setEncoding("latin1");
  socket.on("error", () => socket.destroy());
  socket.write("220 sink ESMTP\r\n");
  socket.on("data", (chunk) => {
    rest += String(chunk);
    for (;;) {
      const mark = inBody ? "\r\n.\r\n" : "\r\n";
      const end = rest.indexOf(mark);
      if (end === -1) return;
      const line = rest.slice(0, end);
      rest = rest.slice(end + mark.length);
      if (inBody) {
        inBody = false;
        onMessage(recipient);
        socket.write("250 2.0.0 Ok\r\n");
      } else if (/^EHLO/i.test(line)) socket.write("250-sink\r\n250-PIPELINING\r\n250 8BITMIME\r\n");
      else if (/^DATA/i.test(line)) {
        inBody = true;
        // The final dot of an empty body is at its beginning.
        rest = `\r\n${rest}`;
        socket.write("354 Go on\r\n");
      } else if (/^RCPT/i.test(line)) {
        recipient = line;
        socket.write("250 2.1.5 Ok\r\n");
      } else if (/^QUIT/i.test(line)) socket.end("221 2.0.0 Bye\r\n");
      else socket.write("250 2.1.0 Ok\r\n");
    }
  });
}

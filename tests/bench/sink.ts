import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { connect, createServer, type Socket } from "node:net";
import { setTimeout as wait } from "node:timers/promises";
import { freePort, listenOnLoopback } from "../support/servers/free-port";

/** A test server that accepts every email and stores none. */
export type Sink = { port: number; name: string; close(): Promise<void> };

const startMaxMs = 10_000;

/** Postfix's `smtp-sink` if installed, because a server written in C costs least; otherwise our own. */
export async function openSink(): Promise<Sink> {
  // Debian installs it outside the PATH of normal users.
  const binary = "/usr/sbin/smtp-sink";
  return existsSync(binary) ? openPostfixSink(binary) : openOwnSink();
}

async function openPostfixSink(binary: string): Promise<Sink> {
  const port = await freePort();
  const asUnprivileged = process.getuid?.() === 0 ? ["-u", "nobody"] : [];
  const child = spawn(binary, [...asUnprivileged, `inet:127.0.0.1:${port}`, "1024"], { stdio: "ignore" });
  const stopAtExit = () => child.kill("SIGKILL");
  process.once("exit", stopAtExit);
  const untilMs = performance.now() + startMaxMs;
  while (!(await connects(port))) {
    if (child.exitCode !== null || performance.now() > untilMs) throw new Error("smtp-sink did not start.");
    await wait(20);
  }
  return {
    port,
    name: "Postfix smtp-sink",
    close: async () => {
      process.off("exit", stopAtExit);
      child.kill("SIGTERM");
    },
  };
}

/** A minimal SMTP server: it detects line ends and the final dot and replies with success. */
async function openOwnSink(): Promise<Sink> {
  const server = createServer((socket) => converse(socket));
  return {
    port: await listenOnLoopback(server),
    name: "a minimal sink",
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
}

function converse(socket: Socket): void {
  let rest = "";
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
        socket.write("250 2.0.0 Ok\r\n");
      } else if (/^EHLO/i.test(line)) socket.write("250-sink\r\n250-PIPELINING\r\n250 8BITMIME\r\n");
      else if (/^DATA/i.test(line)) {
        inBody = true;
        // The final dot of an empty body is at its beginning.
        rest = `\r\n${rest}`;
        socket.write("354 Go on\r\n");
      } else if (/^QUIT/i.test(line)) socket.end("221 2.0.0 Bye\r\n");
      else socket.write("250 2.1.0 Ok\r\n");
    }
  });
}

function connects(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1");
    const settle = (is: boolean) => {
      socket.destroy();
      resolve(is);
    };
    socket.once("connect", () => settle(true)).once("error", () => settle(false));
  });
}

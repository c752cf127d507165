import { connect, createServer, type Socket } from "node:net";
import { listenOnLoopback } from "../servers/free-port";

/** The direction of the bytes: `up` from the client to the database, `down` back. */
export type Direction = "up" | "down";

/** A proxy in front of the database that can hold packets at a chosen point. */
export type Tap = {
  port: number;
  /**
   * Holds one connection at the next packet from the client that contains `marker`: `up` holds that packet,
   * `down` forwards it and holds the response of the database. Resolves when a packet is held. Calling
   * `release` before that ends the wait.
   */
  holdAt(direction: Direction, marker: string): Promise<void>;
  /** Holds everything that clients send from now on. */
  pause(): void;
  /** Forwards everything that is held, for connections that still exist. */
  release(): void;
  /**
   * Closes all connections, and discards what it holds: `end` like a process that exits, `reset` like one
   * that has not read everything it received.
   */
  cut(how?: "end" | "reset"): void;
  /**
   * Whether connections are refused from now on; existing ones are closed. A proxy whose server is
   * unavailable accepts connections and closes them before the first byte: `end` does that.
   */
  refuse(refuses: boolean | "end"): void;
  /** The number of connections refused so far. */
  refused(): number;
  close(): Promise<void>;
};

type Line = {
  client: Socket;
  upstream: Socket;
  heldUp: Buffer[] | null;
  heldDown: Buffer[] | null;
  /** Called when the first response is held. */
  onAnswer(): void;
};
type Trap = { direction: Direction; marker: Buffer; caught(): void };

/** Opens the tap on a free loopback port. The database behind it may stop and start. */
export async function startTap(target: { host: string; port: number }): Promise<Tap> {
  const lines = new Set<Line>();
  let trap: Trap | null = null;
  let isPaused = false;
  let refuses: boolean | "end" = false;
  let refused = 0;

  const server = createServer((client) => {
    if (refuses) refused += 1;
    if (refuses === "end")
      return void client
        .on("error", () => {})
        .resume()
        .end();
    if (refuses) return void client.resetAndDestroy();
    const upstream = connect(target.port, target.host);
    const line: Line = { client, upstream, heldUp: isPaused ? [] : null, heldDown: null, onAnswer() {} };
    lines.add(line);
    for (const socket of [client, upstream]) socket.setNoDelay(true);
    const end = () => {
      lines.delete(line);
      client.destroy();
      upstream.destroy();
    };
    for (const socket of [client, upstream]) socket.on("error", end).on("close", end);
    client.on("data", (chunk: Buffer) => {
      if (trap && line.heldUp === null && line.heldDown === null && chunk.includes(trap.marker)) {
        const { direction, caught } = trap;
        trap = null;
        if (direction === "up") {
          line.heldUp = [];
          caught();
        } else {
          line.heldDown = [];
          line.onAnswer = caught;
        }
      }
      if (line.heldUp) line.heldUp.push(chunk);
      else upstream.write(chunk);
    });
    upstream.on("data", (chunk: Buffer) => {
      if (line.heldDown) {
        line.heldDown.push(chunk);
        line.onAnswer();
      } else client.write(chunk);
    });
  });

  const port = await listenOnLoopback(server);
  return {
    port,
    holdAt: (direction, marker) =>
      new Promise((resolve) => {
        trap = { direction, marker: Buffer.from(marker), caught: resolve };
      }),
    pause() {
      isPaused = true;
      for (const line of lines) line.heldUp ??= [];
    },
    release() {
      isPaused = false;
      trap?.caught();
      trap = null;
      for (const line of lines) {
        for (const chunk of line.heldUp ?? []) line.upstream.write(chunk);
        for (const chunk of line.heldDown ?? []) line.client.write(chunk);
        line.heldUp = null;
        line.heldDown = null;
      }
    },
    cut(how = "reset") {
      for (const { client } of lines) how === "end" ? client.end() : client.resetAndDestroy();
      lines.clear();
    },
    refused: () => refused,
    refuse(will) {
      refuses = will;
      if (will) for (const { client } of lines) client.resetAndDestroy();
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const { client } of lines) client.destroy();
      }),
  };
}

import { mkdirSync } from "node:fs";
import { open } from "node:fs/promises";
import path from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { SMTPServer } from "smtp-server";

/** What the sink is told: to hold the next message before it is read, or after it is written, and to let it go. */
export type SinkOrder = { hold: "unread" | "written" | null };
/** What the sink tells: its port, once, and that a message is being held. */
export type SinkReport = { port: number } | { held: "unread" | "written" };

/** One accepted message, as its file holds it. `writtenAtMs` was taken when it was safely on disk. */
export type SunkFile = {
  to: string[];
  from: string;
  messageId: string | null;
  subject: string | null;
  writtenAtMs: number;
};

const folder = process.argv[2] ?? "";
mkdirSync(folder, { recursive: true });
let count = 0;
let hold: SinkOrder["hold"] = null;

/**
 * A mail server that gives its 250 only for what is in a file of its own, flushed to the disk. Whatever it says yes to
 * can be counted afterwards, whoever else has died meanwhile.
 */
const server = new SMTPServer({
  authOptional: true,
  disabledCommands: ["AUTH", "STARTTLS"],
  disableReverseLookup: true,
  onData(stream, session, done) {
    const take = async () => {
      await holdAt("unread");
      const chunks: Buffer[] = [];
      for await (const chunk of stream) chunks.push(chunk as Buffer);
      const text = Buffer.concat(chunks).toString();
      const sender = session.envelope.mailFrom;
      await write({
        from: sender === false ? "" : sender.address,
        to: session.envelope.rcptTo.map(({ address }) => address),
        messageId: /^Message-ID: *<([^>]*)>/im.exec(text)?.[1] ?? null,
        subject: /^Subject: *(.*)$/im.exec(text)?.[1]?.trim() ?? null,
      });
      await holdAt("written");
    };
    take().then(
      () => done(),
      (error) => done(error instanceof Error ? error : new Error("broken")),
    );
  },
});
// A client that is killed breaks its connections; that is what this is for.
server.on("error", () => {});

async function write(message: Omit<SunkFile, "writtenAtMs">): Promise<void> {
  const name = path.join(folder, `${String(count++).padStart(6, "0")}.json`);
  const file = await open(name, "wx");
  await file.writeFile(JSON.stringify(message));
  await file.sync();
  // Only now is the time known at which it was safe; a file without one was never answered.
  await file.truncate(0);
  await file.write(JSON.stringify({ ...message, writtenAtMs: Date.now() }), 0);
  await file.sync();
  await file.close();
}

async function holdAt(point: "unread" | "written"): Promise<void> {
  if (hold !== point) return;
  tell({ held: point });
  while (hold === point) await wait(2);
}

const tell = (report: SinkReport) => process.send?.(report);

process.on("message", (order: SinkOrder) => {
  hold = order.hold;
});
process.on("disconnect", () => process.exit());
server.listen(0, "127.0.0.1", () => {
  const address = server.server.address();
  tell({ port: address && typeof address === "object" ? address.port : 0 });
});

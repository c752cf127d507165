/** What a child answers, by name. */
export type Commands = Record<string, (input: never) => unknown>;
export type Asked = { id: number; command: string; input: unknown };
export type Answered = { id: number; value?: unknown; error?: string };

/** The child's side: answers the parent's calls one by one, and runs `close` when the parent has gone. */
export function answerParent(commands: Commands, close: () => Promise<void>): void {
  process.on("message", async ({ id, command, input }: Asked) => {
    const answer: Answered = { id };
    try {
      answer.value = await commands[command]?.(input as never);
    } catch (error) {
      answer.error = error instanceof Error ? (error.stack ?? error.message) : String(error);
    }
    if (process.connected) process.send?.(answer);
  });
  process.once("disconnect", () => void close().finally(() => process.exit(0)));
}

/** Processor time of this process so far, and its current memory. */
export const usage = (): { cpuMs: number; rssMb: number } => {
  const { user, system } = process.cpuUsage();
  return { cpuMs: (user + system) / 1000, rssMb: process.memoryUsage.rss() / 1_000_000 };
};

import { createInterface } from "node:readline";
import { Writable } from "node:stream";
import type { ReadStream } from "node:tty";

/**
 * Asks on the terminal for a text that is not displayed, and resolves with the line. Empty at the end of the
 * input.
 */
export function askSecret(
  input: ReadStream,
  write: (text: string) => void,
  question: string,
): Promise<string> {
  // readline displays what is typed by writing it to its output.
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() });
  const lines = createInterface({ input, output: silent, terminal: true });
  write(question);
  return new Promise((resolve) => {
    let answer = "";
    lines.once("line", (line) => {
      answer = line;
      lines.close();
    });
    // readline consumes Ctrl-C.
    lines.once("SIGINT", () => process.kill(process.pid, "SIGINT"));
    lines.once("close", () => {
      write("\n");
      resolve(answer);
    });
  });
}

import { readdirSync, readFileSync } from "node:fs";

/** A request as a client sends it, and the expected response. */
export type RequestFixture = {
  title: string;
  /** The source of this form: a file of the client at one commit. */
  source: string;
  status: number;
  /** The name of the type that the client parses the response into. */
  shape: string;
  /** The name under which the response's id replaces `{{name}}` in later requests of the same client. */
  keep: string | null;
  /** What the response must contain. */
  answers: unknown;
  /** What the email must contain when it is read. */
  stored: unknown;
  /** The attachments: name, type, content id and bytes in base64; `-` for none. */
  attached: string[][];
  /** Request line and headers. */
  head: string[];
  body: string | null;
};

const folder = new URL("requests/", import.meta.url);
const DIRECTIVE = /^@(\w+) ?(.*)$/;

/** The clients, by the names of their files: `go.1-emails.http` and `go.2-resources.http` belong to one. */
export const clientNames = [...new Set(readdirSync(folder).map((file) => file.split(".")[0] ?? ""))].sort();

/** The requests of a client in the order in which they are sent. */
export function readRequests(client: string): RequestFixture[] {
  const files = readdirSync(folder).filter((file) => file.startsWith(`${client}.`));
  return files.sort().flatMap((file) => {
    const [head = "", ...blocks] = readFileSync(new URL(file, folder), "utf8").split(/^### /m);
    const named = readHeaders(head);
    return blocks.map((block) => readOne(block, named));
  });
}

/** Header lines that several requests of a file have: `@headers name`, then the lines. */
function readHeaders(head: string): Map<string, string[]> {
  const sets = head.split(/^@headers /m).slice(1);
  return new Map(
    sets.map((set) => {
      const [name = "", ...lines] = set.trimEnd().split("\n");
      return [name, lines];
    }),
  );
}

/**
 * One block of such a file: its title, lines of `@name value`, the request line and headers, or `@` with the
 * name of the file's headers, and after an empty line the body. Header lines end in CRLF; the body is sent
 * unchanged, with a line break after it for `@newline`.
 */
function readOne(block: string, named: Map<string, string[]>): RequestFixture {
  const [title = "", ...lines] = block.trimEnd().split("\n");
  const said: Record<string, string[]> = {};
  let line = lines.shift() ?? "";
  for (let match = DIRECTIVE.exec(line); match; match = DIRECTIVE.exec(line)) {
    const [, name = "", value = ""] = match;
    said[name] = [...(said[name] ?? []), value];
    line = lines.shift() ?? "";
  }
  const shared = named.get(lines[0]?.slice(1) ?? "");
  if (shared) lines.splice(0, 1, ...shared);
  const empty = lines.indexOf("");
  const [status = "", shape = ""] = (said.expect?.[0] ?? "").split(" ");
  return {
    title,
    source: said.source?.[0] ?? "",
    status: Number(status),
    shape,
    keep: said.keep?.[0] ?? null,
    answers: JSON.parse(said.answers?.[0] ?? "{}"),
    stored: said.stored && JSON.parse(said.stored[0] ?? ""),
    attached: (said.attached ?? []).map((file) => file.split(" ")),
    head: [line, ...(empty === -1 ? lines : lines.slice(0, empty))],
    body: empty === -1 ? null : `${lines.slice(empty + 1).join("\n")}${said.newline ? "\n" : ""}`,
  };
}

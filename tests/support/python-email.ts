import { execFile, spawnSync } from "node:child_process";

/** The interpreter that Debian installs. Its standard library parses email. */
const python = "/usr/bin/python3";

/** The result of Python's `email` for a message. */
export type PythonMessage = {
  /** The names of the header fields in lower case, from top to bottom. */
  fields: string[];
  subject: string;
  from: [name: string, address: string][];
  to: [name: string, address: string][];
  cc: [name: string, address: string][];
  /** Its leaf parts in order; content that is not text is in base64. */
  parts: { type: string; filename: string | null; disposition: string | null; content: string }[];
  /** The defects that the parser reports, by class name. */
  defects: string[];
};

/** Reads JSON from standard input: messages in base64. */
const SCRIPT = `
import base64, json, sys
from email import message_from_bytes, policy
def people(field):
    return [] if field is None else [[each.display_name, each.addr_spec] for each in field.addresses]
def read(text):
    message = message_from_bytes(base64.b64decode(text), policy=policy.default)
    defects, parts = [], []
    for part in message.walk():
        defects += part.defects
        for field in part.values():
            defects += getattr(field, "defects", [])
        if part.is_multipart():
            continue
        content = part.get_content()
        parts.append({
            "type": part.get_content_type(),
            "filename": part.get_filename(),
            "disposition": part.get_content_disposition(),
            "content": content if isinstance(content, str) else base64.b64encode(content).decode(),
        })
    return {
        "fields": [name.lower() for name in message.keys()],
        "subject": str(message["subject"]),
        "from": people(message["from"]), "to": people(message["to"]), "cc": people(message["cc"]),
        "parts": parts,
        "defects": [type(defect).__name__ + ": " + str(defect) for defect in defects],
    }
json.dump([read(text) for text in json.load(sys.stdin)], sys.stdout)
`;

/** Whether Python is installed. */
export function hasPython(): boolean {
  return spawnSync(python, ["-c", "import email.policy"]).status === 0;
}

/** Parses messages with Python's standard library, which is independent of our code. */
export function readByPython(messages: readonly Uint8Array[]): Promise<PythonMessage[]> {
  return new Promise((resolve, reject) => {
    const child = execFile(python, ["-c", SCRIPT], { maxBuffer: 1 << 26 }, (error, stdout) =>
      error ? reject(error) : resolve(JSON.parse(stdout)),
    );
    child.stdin?.end(JSON.stringify(messages.map((message) => Buffer.from(message).toString("base64"))));
  });
}

/** Sample code that verifies our signature, complete enough to run: a server that listens on `PORT`. */
export type Snippet = { id: string; label: string; language: string; fileName: string; text: string };

const LIBRARY = `import { createServer } from "node:http";
import { Webhook } from "standardwebhooks"; // npm install standardwebhooks

const webhook = new Webhook(process.env.WEBHOOK_SECRET);

createServer(async (request, response) => {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  // Verify the raw body: parsing and serializing it again would change the signature.
  const body = Buffer.concat(chunks).toString();
  try {
    const event = webhook.verify(body, request.headers);
    console.log(request.headers["webhook-id"], event.type);
    response.writeHead(204).end();
  } catch {
    response.writeHead(400).end("Invalid signature");
  }
}).listen(process.env.PORT, "127.0.0.1"); // behind a reverse proxy with HTTPS
`;

const CRYPTO = `import { createHmac, timingSafeEqual } from "node:crypto";
import { createServer } from "node:http";

const key = Buffer.from(process.env.WEBHOOK_SECRET.replace("whsec_", ""), "base64");
const toleranceSeconds = 300;

function isOurs(body, headers) {
  const id = headers["webhook-id"];
  const timestamp = headers["webhook-timestamp"];
  const age = Math.abs(Date.now() / 1000 - Number(timestamp));
  if (!(age <= toleranceSeconds)) return false;
  const expected = createHmac("sha256", key).update(\`\${id}.\${timestamp}.\${body}\`).digest();
  // There are several signatures during a secret rotation; one match is enough.
  return (headers["webhook-signature"] ?? "").split(" ").some((signature) => {
    const given = Buffer.from(signature.replace("v1,", ""), "base64");
    return given.length === expected.length && timingSafeEqual(given, expected);
  });
}

createServer(async (request, response) => {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  const body = Buffer.concat(chunks).toString();
  if (!isOurs(body, request.headers)) return response.writeHead(400).end("Invalid signature");
  console.log(request.headers["webhook-id"], JSON.parse(body).type);
  response.writeHead(204).end();
}).listen(process.env.PORT, "127.0.0.1"); // behind a reverse proxy with HTTPS
`;

const PYTHON = `import base64
import hashlib
import hmac
import json
import os
import time
from http.server import BaseHTTPRequestHandler, HTTPServer

key = base64.b64decode(os.environ["WEBHOOK_SECRET"].removeprefix("whsec_"))
tolerance_seconds = 300


def is_ours(body, headers):
    message_id = headers.get("webhook-id", "")
    timestamp = headers.get("webhook-timestamp", "")
    if not timestamp.isdigit() or abs(time.time() - int(timestamp)) > tolerance_seconds:
        return False
    signed = f"{message_id}.{timestamp}.".encode() + body
    expected = "v1," + base64.b64encode(hmac.digest(key, signed, hashlib.sha256)).decode()
    # There are several signatures during a secret rotation; one match is enough.
    given = headers.get("webhook-signature", "").split(" ")
    return any(hmac.compare_digest(expected.encode(), each.encode()) for each in given)


class Receiver(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        if not is_ours(body, self.headers):
            self.send_response(400)
        else:
            print(self.headers["webhook-id"], json.loads(body)["type"], flush=True)
            self.send_response(204)
        self.end_headers()


# Run behind a reverse proxy with HTTPS.
HTTPServer(("127.0.0.1", int(os.environ["PORT"])), Receiver).serve_forever()
`;

/** The tests run each snippet against a call of the worker. */
export const VERIFY_SNIPPETS: readonly Snippet[] = [
  {
    id: "library",
    label: "Node.js (library)",
    language: "JavaScript",
    fileName: "webhook.mjs",
    text: LIBRARY,
  },
  {
    id: "crypto",
    label: "Node.js (no library)",
    language: "JavaScript",
    fileName: "webhook.mjs",
    text: CRYPTO,
  },
  { id: "python", label: "Python", language: "Python", fileName: "webhook.py", text: PYTHON },
];

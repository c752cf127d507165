import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { faultOfSignature } from "./s3-signature";

export type S3Stub = {
  /** The settings of a schedule that uses it. */
  env: Record<string, string>;
  /** The complete objects by their key. */
  objects: Map<string, Buffer>;
  /** The uploads in progress by their id. */
  uploads: Map<string, { key: string; initiated: Date; parts: Buffer[] }>;
  /** The keys of requests to delete an object. */
  deleted: string[];
  /**
   * How requests respond: as a store that fails. `parts` has the statuses of the next parts, and
   * `lostCompletions` the number of completions without a response.
   */
  fails: { completion?: boolean; deletion?: boolean; parts?: number[]; lostCompletions?: number };
  /** Parts that arrived after their upload had ended, which some stores keep. */
  lateParts: string[];
  /** Called before a part is stored. */
  onPart: { run(): Promise<void> };
  close(): Promise<void>;
};

const credentials = { keyId: "AKIDEXAMPLE", secret: "a secret/of+the=stub", region: "eu-central-1" };

/**
 * An S3-compatible store in memory with the requests that a backup needs. A request without a valid signature
 * gets 403.
 */
export async function startS3Stub(): Promise<S3Stub> {
  const [objects, uploads]: [S3Stub["objects"], S3Stub["uploads"]] = [new Map(), new Map()];
  const deleted: string[] = [];
  const fails: S3Stub["fails"] = {};
  const lateParts: string[] = [];
  const onPart: S3Stub["onPart"] = { run: async () => {} };
  const answer = (
    request: IncomingMessage,
    body: Buffer,
  ): { status?: number; xml?: string; etag?: string } => {
    const { pathname, searchParams: query } = new URL(request.url ?? "/", "http://stub");
    const key = decodeURIComponent(pathname.slice("/bucket/".length));
    const id = query.get("uploadId") ?? "";
    const upload = uploads.get(id);
    const name = `${request.method}${query.has("uploads") ? " uploads" : id === "" ? "" : " upload"}`;
    switch (name) {
      case "POST uploads": {
        const created = `upload-${uploads.size + objects.size + 1}`;
        uploads.set(created, { key, initiated: new Date(), parts: [] });
        return { xml: inside("InitiateMultipartUploadResult", inside("UploadId", created)) };
      }
      case "PUT upload": {
        const status = fails.parts?.shift() ?? 200;
        if (status !== 200) return { status, xml: inside("Error", inside("Code", "SlowDown")) };
        if (!upload) lateParts.push(key);
        upload?.parts.push(body);
        return { etag: `"part"` };
      }
      case "POST upload":
        if (fails.completion) return { xml: inside("Error", inside("Code", "InternalError")) };
        if (!upload) return { status: 404, xml: inside("Error", inside("Code", "NoSuchUpload")) };
        objects.set(key, Buffer.concat(upload.parts));
        uploads.delete(id);
        if (fails.lostCompletions) {
          fails.lostCompletions--;
          return { status: 504 };
        }
        return { xml: inside("CompleteMultipartUploadResult", inside("ETag", "&quot;whole&quot;")) };
      case "DELETE upload":
        uploads.delete(id);
        return { status: 204 };
      case "GET uploads": {
        const entries = [...uploads].map(([uploadId, { key: of, initiated }]) =>
          inside(
            "Upload",
            inside("Key", of) + inside("UploadId", uploadId) + inside("Initiated", initiated.toISOString()),
          ),
        );
        return { xml: inside("ListMultipartUploadsResult", entries.join("")) };
      }
      case "GET": {
        const found = [...objects].filter(([each]) => each.startsWith(query.get("prefix") ?? ""));
        const entries = found.map(([each, { length }]) =>
          inside("Contents", inside("Key", each) + inside("Size", String(length))),
        );
        return { xml: inside("ListBucketResult", entries.join("")) };
      }
      case "DELETE":
        if (fails.deletion) return { status: 403, xml: inside("Error", inside("Code", "AccessDenied")) };
        deleted.push(key);
        objects.delete(key);
        return { status: 204 };
      default:
        return { status: 501 };
    }
  };
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    if (request.method === "PUT") await onPart.run();
    const body = Buffer.concat(chunks);
    const fault = faultOfSignature(request, body, credentials);
    const {
      status = 200,
      xml,
      etag,
    } = fault === null ? answer(request, body) : { status: 403, xml: inside("Error", inside("Code", fault)) };
    response.writeHead(status, { ...(etag && { etag }), ...(xml && { "content-type": "application/xml" }) });
    response.end(xml);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    env: {
      BACKSTAMP_BACKUP_TO: "s3://bucket/mine",
      BACKSTAMP_BACKUP_S3_ENDPOINT: `http://127.0.0.1:${port}`,
      BACKSTAMP_BACKUP_S3_REGION: credentials.region,
      BACKSTAMP_BACKUP_S3_KEY_ID: credentials.keyId,
      BACKSTAMP_BACKUP_S3_SECRET: credentials.secret,
    },
    objects,
    uploads,
    deleted,
    fails,
    lateParts,
    onPart,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

const inside = (tag: string, content: string): string => `<${tag}>${content}</${tag}>`;

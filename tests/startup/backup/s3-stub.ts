import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";

export type S3Stub = {
  /** The settings of a schedule that uses it. */
  env: Record<string, string>;
  /** The complete objects by their key. */
  objects: Map<string, Buffer>;
  /** The uploads in progress by their id. */
  uploads: Map<string, { key: string; initiated: Date; parts: Buffer[] }>;
  /** The keys of requests to delete an object. */
  deleted: string[];
  /** How the next requests to complete an upload, and to delete, respond: as a store that fails. */
  fails: { completion?: boolean; deletion?: boolean };
  close(): Promise<void>;
};

/** An S3-compatible store in memory, without authentication, with the requests that a backup needs. */
export async function startS3Stub(): Promise<S3Stub> {
  const [objects, uploads]: [S3Stub["objects"], S3Stub["uploads"]] = [new Map(), new Map()];
  const deleted: string[] = [];
  const fails: S3Stub["fails"] = {};
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
      case "PUT upload":
        upload?.parts.push(body);
        return { etag: `"part"` };
      case "POST upload":
        if (fails.completion) return { xml: inside("Error", inside("Code", "InternalError")) };
        objects.set(key, Buffer.concat(upload?.parts ?? []));
        uploads.delete(id);
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
        const keys = [...objects.keys()].filter((each) => each.startsWith(query.get("prefix") ?? ""));
        const entries = keys.map((each) => inside("Contents", inside("Key", each)));
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
    const { status = 200, xml, etag } = answer(request, Buffer.concat(chunks));
    response.writeHead(status, { ...(etag && { etag }), ...(xml && { "content-type": "application/xml" }) });
    response.end(xml);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    env: {
      BACKSTAMP_BACKUP_TO: "s3://bucket/mine",
      BACKSTAMP_BACKUP_S3_ENDPOINT: `http://127.0.0.1:${port}`,
      BACKSTAMP_BACKUP_S3_KEY_ID: "key",
      BACKSTAMP_BACKUP_S3_SECRET: "secret",
    },
    objects,
    uploads,
    deleted,
    fails,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

const inside = (tag: string, content: string): string => `<${tag}>${content}</${tag}>`;

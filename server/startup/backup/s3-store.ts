import { Writable } from "node:stream";
import { setTimeout as wait } from "node:timers/promises";
import { S3mini } from "s3mini";
import { fetch } from "undici";
import { OperatorError } from "../launcher/operator-error";
import {
  abortable,
  type BackupStore,
  type FillBackup,
  isAbandoned,
  isNameOfBackup,
  type StoreEffects,
} from "./store";

export type S3Target = {
  endpoint: string;
  region: string;
  keyId: string;
  secret: string;
  bucket: string;
  /** Precedes each name: empty, or with a `/` at its end. */
  prefix: string;
};

/** All parts but the last have one size, which some stores require. */
const partBytes = 16 * 1024 * 1024;
/** A store permits no more, so a backup can have 156 GiB. */
const partsMax = 10_000;
const requestMsMax = 120_000;
/** A store lists when an upload began, and not when its last part arrived. */
const uploadMsMax = 24 * 60 * 60 * 1_000;
/**
 * Statuses of a request that succeeds later. Others from 400 to 499 mean that the store understood the
 * request and rejects it.
 */
const RETRIED_STATUSES: readonly (number | undefined)[] = [408, 429];

/**
 * Keeps backups in a bucket. A backup is uploaded in parts while it is made; the bucket shows it when it is
 * complete.
 */
export function openS3Store(
  { endpoint, region, keyId, secret, bucket, prefix }: S3Target,
  { retryAfterMs }: Pick<StoreEffects, "retryAfterMs">,
): BackupStore {
  const client = new S3mini({
    accessKeyId: keyId,
    secretAccessKey: secret,
    endpoint: `${endpoint.replace(/\/$/, "")}/${bucket}`,
    region,
    requestAbortTimeout: requestMsMax,
    // Node's own fetch would use the dispatcher of the installed undici, whose other version rejects its
    // headers.
    fetch: fetch as unknown as typeof globalThis.fetch,
  });
  /** Repeats a request that failed, except after the signal. */
  const retry = async <T>(call: () => Promise<T>, signal?: AbortSignal): Promise<T> => {
    for (const pauseMs of retryAfterMs) {
      try {
        return await call();
      } catch (error) {
        const status = statusOf(error);
        if (status !== undefined && status >= 400 && status < 500 && !RETRIED_STATUSES.includes(status))
          throw error;
        if (signal?.aborted) throw error;
      }
      await wait(pauseMs, undefined, { signal });
    }
    return call();
  };
  const hasObject = async (key: string, size: number): Promise<boolean> =>
    ((await client.listObjects("/", key)) ?? []).some(
      (object) => object.Key === key && Number(object.Size) === size,
    );
  return {
    location: `s3://${bucket}/${prefix}`,
    async write(name, fill, signal) {
      const key = `${prefix}${name}`;
      const upload = await retry(() => client.getMultipartUploadId(key, "application/octet-stream"));
      const parts: Parameters<typeof client.completeMultipartUpload>[2] = [];
      let uploading: Promise<unknown> = Promise.resolve();
      try {
        const size = await collectParts(
          (output) => fill(abortable(output, signal)),
          async (bytes) => {
            const number = parts.length + 1;
            if (number > partsMax) throw tooLarge();
            const part = retry(() => client.uploadPart(key, upload, bytes, number), signal);
            uploading = part.catch(() => {});
            parts.push(await part);
          },
        );
        await retry(async () => {
          const completed = await client.completeMultipartUpload(key, upload, parts).catch(async (error) => {
            // The upload does not exist after a completion whose response was lost.
            if (statusOf(error) === 404 && (await hasObject(key, size))) return { etag: key };
            throw error;
          });
          // A store that fails while it combines the parts has already sent the status 200. The body then has
          // the error.
          if (!completed.etag) throw new Error(`The store did not complete the upload: ${textOf(completed)}`);
        }, signal);
        return size;
      } catch (error) {
        // A part that arrives after the end of its upload would remain.
        await uploading;
        await retry(() => client.abortMultipartUpload(key, upload), signal).catch(() => {});
        throw error;
      }
    },
    async deleteRemains() {
      const found = (await client.listMultipartUploads("/", "", "GET", { prefix })) as FoundUploads;
      // The client returns one upload without a list, and none as an empty text.
      const uploads = [found.ListMultipartUploadsResult?.Upload ?? []].flat();
      for (const { Key, UploadId, Initiated } of uploads)
        if (
          Key.startsWith(prefix) &&
          isNameOfBackup(Key.slice(prefix.length)) &&
          isAbandoned(new Date(Initiated), uploadMsMax)
        )
          await client.abortMultipartUpload(Key, UploadId);
    },
    async list() {
      const objects = (await retry(() => client.listObjects("/", prefix))) ?? [];
      return objects.map(({ Key }) => Key.slice(prefix.length));
    },
    remove: async (name) => {
      await client.deleteObject(`${prefix}${name}`);
    },
  };
}

type FoundUpload = { Key: string; UploadId: string; Initiated: string };
type FoundUploads = { ListMultipartUploadsResult?: { Upload?: FoundUpload | FoundUpload[] } };

const textOf = (response: object): string => JSON.stringify(response).slice(0, 500);

/** Divides a stream into parts. Holds one part in memory. Returns the size in bytes. */
async function collectParts(fill: FillBackup, upload: (part: Buffer) => Promise<void>): Promise<number> {
  let size = 0;
  let pending: Buffer[] = [];
  let pendingBytes = 0;
  const flush = async (bytes: number) => {
    const all = Buffer.concat(pending);
    pending = [all.subarray(bytes)];
    pendingBytes = all.length - bytes;
    await upload(all.subarray(0, bytes));
  };
  const output = new Writable({
    write(chunk: Buffer, _encoding, done) {
      pending.push(chunk);
      pendingBytes += chunk.length;
      size += chunk.length;
      if (pendingBytes < partBytes) done();
      else flush(partBytes).then(() => done(), done);
    },
    final(done) {
      flush(pendingBytes).then(() => done(), done);
    },
  });
  await fill(output);
  return size;
}

const statusOf = (error: unknown) => (error as { status?: number }).status;

const tooLarge = () =>
  new OperatorError(
    `The backup is larger than ${Math.floor((partsMax * partBytes) / 1024 ** 3)} GiB, which a store does not accept. Write backups to a folder, or shorten the retention of email.`,
  );

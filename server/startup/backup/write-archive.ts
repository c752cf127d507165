import { Readable, type Writable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { constants, createGzip } from "node:zlib";
import { Encrypter } from "age-encryption";
import { type Pack, pack } from "tar-stream";
import type { Snapshot } from "#db/backup/snapshot";
import {
  type BackupSecrets,
  CHECKSUMS,
  type Checksums,
  createTally,
  HEADER,
  type Header,
  nameOfPart,
  SECRETS,
} from "./format";

/**
 * The rows of a table are stored in parts of this size, because tar needs the size of an entry before its
 * bytes.
 */
const partBytes = 4 * 1024 * 1024;
/** Half the time of the default level, and files that are 5 % larger. */
const gzipLevel = 3;

/**
 * The base-2 logarithm of scrypt's cost. It needs 64 MiB of memory, a quarter of age's default, for small
 * machines.
 */
const scryptWorkFactor = 16;

export type ArchiveContent = {
  header: Header;
  snapshot: Snapshot;
  /** Null in a backup without a passphrase. */
  secrets: BackupSecrets | null;
  passphrase: string | null;
};

/** Writes a backup to a stream, and ends it. The memory used does not depend on the size of the database. */
export async function writeArchive(
  { header, snapshot, secrets, passphrase }: ArchiveContent,
  output: Writable,
): Promise<Checksums> {
  if (secrets !== null && passphrase === null) throw new TypeError("secrets without a passphrase");
  const archive = pack();
  const compressed = archive.pipe(createGzip({ level: gzipLevel, strategy: constants.Z_DEFAULT_STRATEGY }));
  archive.once("error", (error) => compressed.destroy(error));
  const encrypted = passphrase === null ? compressed : await encrypt(compressed, passphrase);
  const written = pipeline(encrypted, output).catch((error: Error) => {
    // Otherwise the rows would wait for the stream.
    archive.destroy(error);
    throw error;
  });
  const filled = fill(archive, header, snapshot, secrets).catch((error: Error) => {
    archive.destroy(error);
    throw error;
  });
  const [sums] = await Promise.all([filled, written]);
  return sums;
}

async function encrypt(input: Readable, passphrase: string): Promise<Readable> {
  const encrypter = new Encrypter();
  encrypter.setPassphrase(passphrase);
  encrypter.setScryptWorkFactor(scryptWorkFactor);
  const source = Readable.toWeb(input) as ReadableStream<Uint8Array>;
  return Readable.fromWeb((await encrypter.encrypt(source)) as Parameters<typeof Readable.fromWeb>[0]);
}

async function fill(
  archive: Pack,
  header: Header,
  snapshot: Snapshot,
  secrets: BackupSecrets | null,
): Promise<Checksums> {
  const mtime = new Date(header.takenAt);
  const add = (name: string, bytes: Buffer | string) =>
    new Promise<void>((resolve, reject) => {
      const entry = archive.entry({ name, mtime, mode: 0o600 }, bytes as Buffer, (error) =>
        error ? reject(error) : resolve(),
      );
      // Where the output fails, the entry emits its error, too, which would end the process.
      entry.on("error", reject);
    });
  const addJson = (name: string, value: object) => add(name, `${JSON.stringify(value, null, 2)}\n`);

  await addJson(HEADER, header);
  if (secrets) await addJson(SECRETS, secrets);
  const tally = createTally();
  for (const table of snapshot.catalog.tables) {
    tally.add(table.name, Buffer.alloc(0));
    let part = 0;
    for await (const bytes of partsOf(await snapshot.readTable(table))) {
      tally.add(table.name, bytes);
      await add(nameOfPart(table.name, ++part), bytes);
    }
  }
  const sums = tally.sum();
  await addJson(CHECKSUMS, sums);
  archive.finalize();
  return sums;
}

async function* partsOf(rows: Readable): AsyncGenerator<Buffer> {
  let chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of rows as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    size += chunk.length;
    if (size < partBytes) continue;
    yield Buffer.concat(chunks);
    chunks = [];
    size = 0;
  }
  if (size > 0) yield Buffer.concat(chunks);
}

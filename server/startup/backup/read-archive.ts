import { createReadStream } from "node:fs";
import { open } from "node:fs/promises";
import { Readable } from "node:stream";
import { createGunzip } from "node:zlib";
import { Decrypter } from "age-encryption";
import { extract } from "tar-stream";
import type { z } from "zod";
import { OperatorError } from "../launcher/operator-error";
import {
  BackupSecrets,
  CHECKSUMS,
  Checksums,
  createTally,
  formatVersion,
  HEADER,
  Header,
  SECRETS,
  tableOfPart,
} from "./format";

/**
 * Receives the content of a backup in its order: the header, the secrets if there are any, then the tables.
 */
export type ArchiveReader = {
  header?(header: Header): void | Promise<void>;
  secrets?(secrets: BackupSecrets): void;
  /** Must read the rows to their end. Called repeatedly for one table. */
  rows?(table: string, rows: Readable): Promise<void>;
};

const AGE = "age-encryption.org/v1";
const GZIP = Buffer.from([0x1f, 0x8b]);
/** The documents of an archive are small. A larger one is not of Backstamp. */
const documentBytesMax = 16 * 1024 * 1024;

/** Whether a backup is encrypted. OperatorError if the file is missing or not a backup. */
export async function isEncrypted(file: string): Promise<boolean> {
  const handle = await open(file).catch((cause: NodeJS.ErrnoException) => {
    throw new OperatorError(`${file} cannot be read (${cause.code}). Enter the path of a backup.`, { cause });
  });
  try {
    const { buffer: start } = await handle.read({ buffer: Buffer.alloc(AGE.length) });
    if (start.toString("latin1") === AGE) return true;
    if (start.subarray(0, 2).equals(GZIP)) return false;
  } finally {
    await handle.close();
  }
  throw new OperatorError(`${file} is not a backup: it is neither an age file nor a gzip file.`);
}

/**
 * Reads a backup and verifies it: the number of rows and the checksum of each table. `passphrase` is null for
 * a backup that is not encrypted. OperatorError if the passphrase is wrong, or the file is damaged,
 * incomplete or of a newer format. The reader can have received rows by then.
 */
export async function readArchive(
  file: string,
  passphrase: string | null,
  reader: ArchiveReader,
): Promise<{ header: Header; checksums: Checksums }> {
  const tally = createTally();
  let header: Header | undefined;
  let checksums: Checksums | undefined;
  let fileFault: Error | undefined;
  const unpacked = extract();
  const fail = (error: Error) => {
    fileFault ??= error;
    unpacked.destroy(error);
  };
  unpacked.on("error", fail);
  const compressed = passphrase === null ? createReadStream(file) : await decrypt(file, passphrase);
  compressed.on("error", fail).pipe(createGunzip().on("error", fail)).pipe(unpacked);
  try {
    for await (const next of unpacked) {
      const { name } = next.header;
      const entry = next as AsyncIterable<unknown> as AsyncIterable<Uint8Array>;
      const table = tableOfPart(name);
      if (name === HEADER) {
        header = readHeader(file, await readDocument(file, entry));
        await reader.header?.(header);
        for (const table of header.tables) tally.add(table.name, Buffer.alloc(0));
      } else if (name === SECRETS)
        reader.secrets?.(parse(file, BackupSecrets, await readDocument(file, entry)));
      else if (name === CHECKSUMS) checksums = parse(file, Checksums, await readDocument(file, entry));
      else if (table !== null && reader.rows) {
        const rows = counted(entry, (bytes) => tally.add(table, bytes));
        await reader.rows(table, Readable.from(rows, { objectMode: false }));
      } else for await (const bytes of entry) if (table !== null) tally.add(table, bytes);
    }
  } catch (error) {
    throw fileFault ? damaged(file, "its content cannot be read", fileFault) : error;
  } finally {
    compressed.destroy();
  }
  if (!header || !checksums) throw damaged(file, "it ends too early");
  const wrong = findDifference(checksums, tally.sum());
  if (wrong !== null) throw damaged(file, `the rows of ${wrong} differ from their checksum`);
  return { header, checksums };
}

async function* counted(entry: AsyncIterable<Uint8Array>, count: (bytes: Uint8Array) => void) {
  for await (const bytes of entry) {
    count(bytes);
    yield bytes;
  }
}

async function decrypt(file: string, passphrase: string): Promise<Readable> {
  const decrypter = new Decrypter();
  decrypter.addPassphrase(passphrase);
  const source = Readable.toWeb(createReadStream(file)) as ReadableStream<Uint8Array>;
  try {
    return Readable.fromWeb((await decrypter.decrypt(source)) as Parameters<typeof Readable.fromWeb>[0]);
  } catch (cause) {
    throw new OperatorError(`The passphrase does not open ${file}. Enter the passphrase of this backup.`, {
      cause,
    });
  }
}

async function readDocument(file: string, entry: AsyncIterable<Uint8Array>): Promise<unknown> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const bytes of entry) {
    size += bytes.length;
    if (size > documentBytesMax) throw damaged(file, "a document in it is too large");
    chunks.push(bytes);
  }
  try {
    return JSON.parse(Buffer.concat(chunks).toString("utf8"));
  } catch (cause) {
    throw damaged(file, "a document in it is not JSON", cause);
  }
}

function parse<T>(file: string, schema: z.ZodType<T>, document: unknown): T {
  const { data, error } = schema.safeParse(document);
  if (error) throw damaged(file, "a document in it is not valid", error);
  return data;
}

function readHeader(file: string, document: unknown): Header {
  const format = (document as { format?: unknown } | null)?.format;
  if (typeof format === "number" && format > formatVersion)
    throw new OperatorError(
      `${file} was made by a newer release, in format ${format}. This release reads format ${formatVersion}. Install the release of the backup or a newer one.`,
    );
  return parse(file, Header, document);
}

function findDifference(stored: Checksums, found: Checksums): string | null {
  const names = new Set([...Object.keys(stored), ...Object.keys(found)]);
  return (
    [...names].find(
      (name) => stored[name]?.rows !== found[name]?.rows || stored[name]?.sha256 !== found[name]?.sha256,
    ) ?? null
  );
}

const damaged = (file: string, why: string, cause?: unknown) =>
  new OperatorError(`${file} is incomplete or damaged: ${why}. Use another copy or an older backup.`, {
    cause,
  });

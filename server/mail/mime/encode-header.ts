/** The part of a mailbox that a header contains. */
type Mailbox = { name: string | null; address: string };

/**
 * Maximum length of a line with encoded words (RFC 2047 section 2); other lines are folded at the same
 * length.
 */
const LINE_MAX = 76;
const WORD_MAX = 75;
const WORD_OVERHEAD = "=?UTF-8?Q??=".length;
/** Column at which the value of a parameter such as ` filename="` starts. */
const PARAMETER_COLUMN = 12;
/** If a line has less room than this, an encoded word starts on the next line. */
const WORD_ROOM_MIN = 32;

/** Bytes that need no escape in an encoded word, even inside a phrase (RFC 2047 section 5 rule 3). */
const Q_SAFE = new Set(
  Buffer.from("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789!*+-/", "latin1"),
);

const ATOMS = /^[A-Za-z0-9!#$%&'*+\-/=?^_`{|}~]+(?: [A-Za-z0-9!#$%&'*+\-/=?^_`{|}~]+)*$/;

export const graphemes = new Intl.Segmenter("und", { granularity: "grapheme" });

/** A header field under construction, and the column of its last line. */
type Field = { text: string; column: number };

/**
 * Formats a free-text field such as Subject: unchanged if it is ASCII that survives folding, else as encoded
 * words. Lines have at most 76 characters. The value must not contain control characters.
 */
export function textField(name: string, value: string): string {
  const field = beginField(name);
  if (value === "") append(field, "");
  else if (isFoldable(value)) for (const word of value.split(" ")) append(field, word);
  else appendEncoded(field, value);
  return endField(field);
}

/**
 * Formats a machine-readable field: ASCII is only folded at spaces, never rewritten, so a long token stays on
 * one line (the caller limits the value to 998 characters). A non-ASCII value becomes encoded words.
 */
export function rawField(name: string, value: string): string {
  const field = beginField(name);
  if (/[^\0-\x7f]/.test(value)) appendEncoded(field, value);
  else for (const word of value.split(/ (?=[^ ])/)) append(field, word);
  return endField(field);
}

/**
 * Formats an address list field. Names are plain, quoted or encoded as necessary; addresses are never split
 * or encoded.
 */
export function addressField(name: string, mailboxes: readonly Mailbox[]): string {
  const field = beginField(name);
  for (const [index, { name: label, address }] of mailboxes.entries()) {
    const comma = index < mailboxes.length - 1 ? "," : "";
    if (label !== null) appendName(field, label);
    append(field, (label === null ? address : `<${address}>`) + comma);
  }
  return endField(field);
}

/**
 * Formats text as encoded words, folded for lines of at most 76 characters after a space and a name of up to
 * ten.
 */
export function encodeWords(text: string): string {
  const field: Field = { text: "", column: PARAMETER_COLUMN };
  appendEncoded(field, text);
  return field.text.trim();
}

/** Formats a mailbox for a header, unfolded. */
export function encodeMailbox(mailbox: Mailbox): string {
  const field = addressField("", [mailbox]);
  return field.slice(":".length).replaceAll("\r\n", "").trim();
}

/** Formats a display name or a parameter as a quoted-string (RFC 5322 section 3.2.4). */
export function quoteName(name: string): string {
  return `"${name.replace(/["\\]/g, "\\$&")}"`;
}

function appendName(field: Field, name: string): void {
  if (!isFoldable(name)) appendEncoded(field, name);
  else for (const word of (ATOMS.test(name) ? name : quoteName(name)).split(" ")) append(field, word);
}

/** Whether text is ASCII that unfolds to the same text and cannot be mistaken for an encoded word. */
function isFoldable(value: string): boolean {
  if (value === "" || value.includes("=?") || !/^[\x20-\x7e]*$/.test(value)) return false;
  let word = 0;
  for (let at = 0; at <= value.length; at += 1) {
    if (at < value.length && value[at] !== " ") word += 1;
    else if (word === 0 || word > LINE_MAX - 8) return false;
    else word = 0;
  }
  return true;
}

function beginField(name: string): Field {
  return { text: `${name}:`, column: name.length + 1 };
}

function append(field: Field, token: string): void {
  if (field.column + 1 + token.length > LINE_MAX && token !== "") {
    field.text += `\r\n ${token}`;
    field.column = 1 + token.length;
  } else {
    field.text += ` ${token}`;
    field.column += 1 + token.length;
  }
}

function endField(field: Field): string {
  return `${field.text}\r\n`;
}

/** Appends text as encoded words of at most 75 characters each; a character is never split over two words. */
function appendEncoded(field: Field, text: string): void {
  const bytes = Buffer.from(text, "utf8");
  const mode = costOfQ(bytes) <= costOfB(bytes.length) ? "Q" : "B";
  const cost = mode === "Q" ? costOfQ : (part: Buffer) => costOfB(part.length);

  let room = LINE_MAX - 1 - field.column;
  if (room < WORD_ROOM_MIN) room = WORD_MAX;
  if (cost(bytes) + WORD_OVERHEAD <= room) {
    append(field, encodedWord(mode, bytes));
    return;
  }

  let pending: Buffer[] = [];
  let pendingBytes = 0;
  let pendingCost = 0;
  const flush = () => {
    append(field, encodedWord(mode, Buffer.concat(pending)));
    pending = [];
    pendingBytes = 0;
    pendingCost = 0;
    room = WORD_MAX;
  };
  for (const piece of piecesOf(text, (part) => cost(part) + WORD_OVERHEAD <= WORD_MAX)) {
    const next = mode === "Q" ? pendingCost + costOfQ(piece) : costOfB(pendingBytes + piece.length);
    if (pending.length > 0 && next + WORD_OVERHEAD > room) flush();
    // If the first piece does not fit into the rest of the line, its word starts on a new line.
    pending.push(piece);
    pendingBytes += piece.length;
    pendingCost += mode === "Q" ? costOfQ(piece) : 0;
  }
  flush();
}

/** Splits text into graphemes, and a grapheme that does not fit into one word into its code points. */
function* piecesOf(text: string, fits: (part: Buffer) => boolean): Generator<Buffer> {
  for (const { segment } of graphemes.segment(text)) {
    const bytes = Buffer.from(segment, "utf8");
    if (fits(bytes)) yield bytes;
    else for (const char of segment) yield Buffer.from(char, "utf8");
  }
}

function costOfQ(bytes: Buffer): number {
  let cost = 0;
  for (const byte of bytes) cost += byte === 0x20 || Q_SAFE.has(byte) ? 1 : 3;
  return cost;
}

function costOfB(length: number): number {
  return Math.ceil(length / 3) * 4;
}

function encodedWord(mode: "Q" | "B", bytes: Buffer): string {
  if (mode === "B") return `=?UTF-8?B?${bytes.toString("base64")}?=`;
  let text = "";
  for (const byte of bytes)
    if (byte === 0x20) text += "_";
    else if (Q_SAFE.has(byte)) text += String.fromCharCode(byte);
    else text += `=${byte.toString(16).toUpperCase().padStart(2, "0")}`;
  return `=?UTF-8?Q?${text}?=`;
}

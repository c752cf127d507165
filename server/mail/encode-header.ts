import { type Mailbox, quoteName } from "./address";

/** Longest line with encoded words (RFC 2047 section 2); other lines are folded there as well. */
const LINE_MAX = 76;
const WORD_MAX = 75;
const WORD_OVERHEAD = "=?UTF-8?Q??=".length;
/** An encoded word shorter than this is not worth starting at the end of a line. */
const WORD_ROOM_MIN = 32;

/** Bytes that may stand for themselves in an encoded word even inside a phrase (RFC 2047 section 5 rule 3). */
const Q_SAFE = new Set(
  Buffer.from("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789!*+-/", "latin1"),
);

const ATOMS = /^[A-Za-z0-9!#$%&'*+\-/=?^_`{|}~]+(?: [A-Za-z0-9!#$%&'*+\-/=?^_`{|}~]+)*$/;

const graphemes = new Intl.Segmenter("und", { granularity: "grapheme" });

/** Appends tokens to a header field, breaking the line before a token that would make it too long. */
type Field = { text: string; column: number };

/**
 * A free-text field such as Subject: as it is when it is ASCII that folding cannot change, else as encoded words.
 * Every line has at most 76 characters. The value must hold no control character.
 */
export function textField(name: string, value: string): string {
  const field = beginField(name);
  if (value === "") append(field, "");
  else if (isFoldable(value)) for (const word of value.split(" ")) append(field, word);
  else appendEncoded(field, value);
  return endField(field);
}

/**
 * A field whose value programs read: ASCII is never rewritten, only folded at its blanks, so a long token keeps its
 * long line (the caller bounds the value to 998 characters). A value outside ASCII becomes encoded words.
 */
export function rawField(name: string, value: string): string {
  const field = beginField(name);
  if (/[^\0-\x7f]/.test(value)) appendEncoded(field, value);
  else for (const word of value.split(/ (?=[^ ])/)) append(field, word);
  return endField(field);
}

/** An address list field. Names are written bare, quoted or encoded as they need; an address is never broken or encoded. */
export function addressField(name: string, mailboxes: readonly Mailbox[]): string {
  const field = beginField(name);
  for (const [index, { name: label, address }] of mailboxes.entries()) {
    const comma = index < mailboxes.length - 1 ? "," : "";
    if (label !== null) appendName(field, label);
    append(field, (label === null ? address : `<${address}>`) + comma);
  }
  return endField(field);
}

function appendName(field: Field, name: string): void {
  if (!isFoldable(name)) appendEncoded(field, name);
  else for (const word of (ATOMS.test(name) ? name : quoteName(name)).split(" ")) append(field, word);
}

/** Whether ASCII text can be cut at its blanks and joined again unchanged, and cannot be taken for an encoded word. */
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

/** Appends text as encoded words, each at most 75 characters and whole in itself: no character is split over two. */
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
    // The first word may have less room than one piece needs: it then goes to a line of its own.
    pending.push(piece);
    pendingBytes += piece.length;
    pendingCost += mode === "Q" ? costOfQ(piece) : 0;
  }
  flush();
}

/** The smallest units to keep whole: graphemes, or the code points of one that would not fit into any word. */
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

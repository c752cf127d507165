import { MARKUP, type Make } from "./payloads-markup";
import { TEXTUAL } from "./payloads-textual";

/** One attempt to run a script, navigate or send a request. Its dialog or URL contains its number. */
export type Payload = { number: number; class: string; text: string };

const CLASSES: Record<string, readonly Make[]> = { ...MARKUP, ...TEXTUAL };

/** Every payload, numbered from 1001. All numbers have four digits, so none is part of another. */
export const PAYLOADS: readonly Payload[] = Object.entries(CLASSES)
  .flatMap(([name, makes]) => makes.map((make) => ({ name, make })))
  .map(({ name, make }, place) => ({ number: 1001 + place, class: name, text: make(1001 + place) }));

/** The first payload of each class. */
export const ONE_OF_EACH: readonly Payload[] = Object.keys(CLASSES).flatMap(
  (name) => PAYLOADS.find((payload) => payload.class === name) ?? [],
);

/** The payload number in a dialog text or URL; null if there is none. */
export const numberIn = (text: string): number | null => {
  const [found] = text.match(/\b1[0-9]{3}\b/) ?? [];
  return found === undefined ? null : Number(found);
};

/** Splits payloads into groups of `size`. */
export const inParts = (all: readonly Payload[], size: number): Payload[][] =>
  Array.from({ length: Math.ceil(all.length / size) }, (_, nth) => all.slice(nth * size, (nth + 1) * size));

import { v7, validate } from "uuid";

/** A new UUIDv7 (RFC 9562): sorts by the time it was made, so an id is also a paging cursor. */
export const newId = (): string => v7();

export const isId = (text: string): boolean => validate(text);

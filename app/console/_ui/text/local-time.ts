/**
 * A time in the format of `datetime-local` fields: the browser's local time without a time zone. Empty for an
 * invalid one.
 */
export function toLocal(at: Date): string {
  if (Number.isNaN(at.getTime())) return "";
  return new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

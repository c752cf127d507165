const MS_BY_UNIT = { s: 1_000, m: 60_000, h: 3_600_000 } as const;

/**
 * The delay that a reply requests, in milliseconds, as in "greylisted for 5 minutes"; null if it names no
 * duration.
 */
export function statedWaitMs(text: string): number | null {
  const found = /(?<![\d.:])(\d{1,5}) {0,3}(s|m|h)(?:ec|econd|in|inute|our|r)?s?\b/i.exec(
    text.slice(0, 1000),
  );
  const unit = found?.[2]?.toLowerCase();
  if (unit !== "s" && unit !== "m" && unit !== "h") return null;
  return Number(found?.[1]) * MS_BY_UNIT[unit];
}

/** A whole number as the console shows it: `1,452`. */
export const formatNumber = (value: number): string => value.toLocaleString("en");

/** A number of things: `1 email`, `1,452 emails`. */
export const formatCount = (count: number, one: string, several = `${one}s`): string =>
  `${formatNumber(count)} ${count === 1 ? one : several}`;

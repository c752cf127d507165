/** A whole number as the console shows it: `1,452`. */
export const formatNumber = (value: number): string => value.toLocaleString("en");

/** A share of 1 in percent, rounded down, so that 100% has no exception. */
export const formatShare = (share: number): string => `${Math.floor(share * 1000) / 10}%`;

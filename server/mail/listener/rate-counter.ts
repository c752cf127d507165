/** Counts per address and in total. `add` returns true, and does not count, if a limit is reached. */
export function createRateCounter() {
  const counts = new Map<string, number>();
  let total = 0;
  return {
    add(address: string, perAddressMax: number, totalMax: number): boolean {
      const own = counts.get(address) ?? 0;
      if (own >= perAddressMax || total >= totalMax) return true;
      counts.set(address, own + 1);
      total += 1;
      return false;
    },
    clear(): void {
      counts.clear();
      total = 0;
    },
  };
}

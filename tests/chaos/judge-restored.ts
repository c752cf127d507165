import type { Finding } from "./judge";
import type { Copy, Records } from "./records";

/**
 * A restored installation sends its own new email once, and of what it holds only what its operator released,
 * once. Everything else that it sends would be a second copy: the original installation delivered it.
 */
export function judgeRestored({ restored, copies }: Pick<Records, "restored" | "copies">): Finding[] {
  return restored.flatMap(({ client, held, released, own }) => {
    const counts = new Map<string, number>();
    for (const { recipients } of copies.filter((copy) => copy.client === client))
      for (const address of recipients) counts.set(address, (counts.get(address) ?? 0) + 1);
    const expected = new Set([...released, ...own]);
    const unreleased = [...counts.keys()].filter((address) => !expected.has(address));
    const what = (address: string) =>
      held.includes(address) ? "was held" : "was not open at the time of the backup";
    return [
      ...unreleased.map((address) => ({
        invariant: "I3" as const,
        what: `${address}: sent again by ${client}, although it ${what(address)}`,
      })),
      ...[...expected].flatMap((address) => {
        const count = counts.get(address) ?? 0;
        if (count === 1) return [];
        return { invariant: "I2" as const, what: `${address}: ${count} copies of ${client}, expected 1` };
      }),
    ];
  });
}

/** Whether a copy of a restored installation was expected, so that it is neither unknown nor a duplicate. */
export function createReleasedCheck({ restored }: Pick<Records, "restored">): (copy: Copy) => boolean {
  const expectedOf = new Map(
    restored.map(({ client, released, own }) => [client, new Set([...released, ...own])]),
  );
  return ({ client, recipients }) => {
    const expected = expectedOf.get(client);
    return expected !== undefined && recipients.every((address) => expected.has(address));
  };
}

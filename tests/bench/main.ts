import { measureAccept } from "./accept";
import { measureDelivery } from "./deliver";
import { openPlace, type Place } from "./place";
import { describeRun, formatTable, type Line } from "./report";
import { measureScale } from "./scale";
import { measureStart } from "./start";

/** What can be measured, each by itself: `npm run bench -- accept`. Without a name all of it runs, in this order. */
const PARTS: Record<string, (place: Place) => Promise<Line[]>> = {
  accept: measureAccept,
  deliver: measureDelivery,
  scale: measureScale,
  start: measureStart,
};

const say = (text: string) => process.stderr.write(`${text}\n`);

async function main(names: string[]): Promise<number> {
  const unknown = names.find((name) => !Object.hasOwn(PARTS, name));
  if (unknown !== undefined) {
    say(`There is no part "${unknown}". There are: ${Object.keys(PARTS).join(", ")}.`);
    return 2;
  }
  const place = await openPlace();
  const lines: Line[] = [];
  try {
    for (const [name, measure] of Object.entries(PARTS)) {
      if (names.length > 0 && !names.includes(name)) continue;
      say(`measuring ${name} …`);
      lines.push(...(await measure(place)));
    }
  } finally {
    await place.close();
  }
  process.stdout.write(`\n${describeRun(new Date())}\n\n${formatTable(lines)}\n`);
  return lines.some(({ isMet }) => isMet === false) ? 1 : 0;
}

process.exitCode = await main(process.argv.slice(2));

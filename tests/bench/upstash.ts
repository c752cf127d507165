import { redisMissing, startRedis } from "../support/processes/redis";
import type { AcceptCommands } from "./accept-child";
import type { Place } from "./bench-database";
import { press } from "./load";
import { compareSides, type Side } from "./measure";
import { FLOOR_PATH } from "./product";
import { type Line, perSecond } from "./report";
import { acceptTarget, emailJson, type Target } from "./sample-email";
import { startChild } from "./start-child";
import type { UpstashCommands } from "./upstash-child";

const connections = 16;
const secondsPerRun = 3;
const secondsToWarmUp = 8;

/**
 * Accepting with rate limits in Upstash over REST: each request asks it once. Redis and its REST interface
 * run on the same machine and use its processor, and respond without the time of a network.
 */
export async function measureUpstash(place: Place): Promise<Line[]> {
  if (redisMissing !== null) throw new Error(redisMissing);
  const product = await place.product();
  const database = await place.openDatabase();
  const redis = await startRedis();
  const rest = await startChild<UpstashCommands>("upstash-child.ts");
  const web = await startChild<AcceptCommands>("accept-child.ts");
  const limited = await startChild<AcceptCommands>("accept-child.ts");
  try {
    const { url, token } = await rest.ask("open", { redisUrl: redis.url });
    const opened = { databaseUrl: database.url, productFolder: product.folder };
    const env = { UPSTASH_REDIS_REST_URL: url, UPSTASH_REDIS_REST_TOKEN: token };
    const plain = await web.ask("open", opened);
    const upstash = await limited.ask("open", { ...opened, env });
    const accept = (port: number) => rateOf(acceptTarget(port, database.token));
    const at = `${connections} connections`;
    return [
      await compareSides({
        what: `accept at the Node server with Upstash over REST, ${at}`,
        measured: accept(upstash.serverPort),
        reference: accept(plain.serverPort),
        beside: "with limits in the process",
        format: (rate) => perSecond(rate, "emails"),
        budget: { atLeast: 0.5 },
      }),
      await compareSides({
        what: `accept at the Next route with Upstash over REST, as on Vercel, ${at}`,
        measured: accept(upstash.nextPort),
        reference: rateOf({ url: `http://127.0.0.1:${plain.nextPort}${FLOOR_PATH}`, body: emailJson }),
        beside: "Next route that does nothing, POST",
        format: (rate) => perSecond(rate, "requests"),
        budget: { atLeast: 0.5 },
      }),
    ];
  } finally {
    await Promise.all([web.end(), limited.end(), rest.end()]);
    await redis.stop();
    await database.drop();
  }
}

const rateOf =
  (target: Target): Side =>
  async ({ isWarmUp }) =>
    (await press({ ...target, connections, seconds: isWarmUp ? secondsToWarmUp : secondsPerRun })).perSecond;

import { startUpstashTestServer } from "../support/servers/upstash-test-server";
import { answerParent } from "./child";

let close = async (): Promise<void> => {};

const commands = {
  /** Starts Upstash's REST interface in front of this Redis. */
  async open({ redisUrl }: { redisUrl: string }) {
    const server = await startUpstashTestServer(redisUrl);
    close = server.stop;
    return { url: server.url, token: server.token };
  },
};
export type UpstashCommands = typeof commands;

answerParent(commands, () => close());

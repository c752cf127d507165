import { cpus } from "node:os";
import { startHaraka } from "../../support/processes/haraka";
import { waitForServer } from "../../support/processes/installed-server";
import { freePort } from "../../support/servers/free-port";
import { connectionsOut, type Rival } from "./rival";

/** Sends everything to the receiving server. */
const plugin = (sinkPort: number) => `exports.hook_rcpt = (next, connection) => {
  connection.relaying = true;
  next(OK);
};
exports.hook_get_mx = (next) => next(OK, { exchange: "127.0.0.1", port: ${sinkPort} });
`;

/**
 * Starts Haraka with a process for each core. It writes its queue without `fsync`, so what it accepted is
 * lost with the machine.
 */
export async function startHarakaRival(parent: string, sinkPort: number): Promise<Rival> {
  const port = await freePort();
  const haraka = await startHaraka(parent, {
    "config/smtp.ini": `listen=127.0.0.1:${port}\nnodes=${cpus().length}\n`,
    "config/outbound.ini": `concurrency_max=${connectionsOut}\nenable_tls=false\n`,
    "config/log.ini": "level=ERROR\n",
    "config/plugins": "to_sink\n",
    "plugins/to_sink.js": plugin(sinkPort),
  });
  await waitForServer(haraka, port);
  return {
    name: `Haraka ${haraka.version}, without \`fsync\``,
    port,
    pids: [haraka.pid],
    queue: [haraka.locate("queue")],
    close: haraka.close,
  };
}

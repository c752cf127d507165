import type { Deps } from "#server/deps";
import { type Listener, startListener } from "#server/mail/bounce/listener";
import { openReportAddress } from "#server/services/domains/report-address";
import { isOurs } from "#server/services/returns/find";
import { receiveMessage } from "#server/services/returns/receive";
import type { ConnectedSettings } from "../deps";
import { explainByCode } from "../launcher/operator-error";

/**
 * Starts the SMTP server for bounces, complaints and aggregate reports. Null if no inbound port is
 * configured.
 */
export async function openInbound(
  settings: Pick<ConnectedSettings, "inboundPort" | "host" | "hostname">,
  deps: Pick<Deps, "hot" | "log" | "wake" | "names" | "recipientTokens" | "threads">,
): Promise<Listener | null> {
  const { inboundPort, host, hostname } = settings;
  if (inboundPort === null) return null;
  const listener = await startListener({
    host,
    port: inboundPort,
    name: hostname,
    isOurs: (address) => isOurs(deps, address) || openReportAddress(deps, address) !== null,
    receive: async (bytes, recipients, hasNullSender) => {
      const received = await receiveMessage(deps, { bytes, recipients, hasNullSender });
      return received?.ignored.includes("later") ? "later" : "done";
    },
    log: deps.log,
  }).catch((error: NodeJS.ErrnoException) => {
    throw explainByCode(error, {
      EADDRINUSE: `BACKSTAMP_INBOUND_PORT: Port ${inboundPort} is in use by another program. Stop that program, or set another port.`,
      EACCES: `BACKSTAMP_INBOUND_PORT: This user is not permitted to listen on port ${inboundPort}. Set a port above 1023 and forward port 25 to it.`,
    });
  });
  deps.log.info("inbound.ready", { port: listener.port });
  return listener;
}

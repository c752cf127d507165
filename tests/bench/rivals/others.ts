import { waitForServer } from "../../support/processes/installed-server";
import { startInOwnRoot } from "../../support/processes/own-root";
import { freePort } from "../../support/servers/free-port";
import { startHarakaRival } from "./haraka";
import type { Rival } from "./rival";

type Server = {
  name: string;
  packages: string;
  /** Its configuration, with Debian's defaults but for limits that reject or delay a fast client. */
  config(port: number, sinkPort: number): string;
  command: string[];
  queue: string[];
};

const file = "/etc/bench/mail.conf";

const EXIM: Server = {
  name: "Exim",
  packages: "exim4-daemon-light",
  config: (port, sinkPort) => `daemon_smtp_ports = ${port}
local_interfaces = 127.0.0.1
primary_hostname = mx.example.net
keep_environment =
tls_advertise_hosts =
acl_smtp_rcpt = all
smtp_accept_max = 100
smtp_accept_max_per_connection = 0
smtp_accept_queue_per_connection = 0
begin acl
all:
  accept
begin routers
relay:
  driver = manualroute
  route_list = * 127.0.0.1
  self = send
  transport = relay
begin transports
relay:
  driver = smtp
  port = ${sinkPort}`,
  command: ["exim4", "-bdf", "-q30m", "-C", file],
  queue: ["/var/spool/exim4/input"],
};

const OPENSMTPD: Server = {
  name: "OpenSMTPD",
  packages: "opensmtpd",
  config: (port, sinkPort) => `smtp limit max-mails 1000000
mta limit session-mail-max 1000000
listen on 127.0.0.1 port ${port}
action "relay" relay host "smtp+notls://127.0.0.1:${sinkPort}"
match from any for any action "relay"`,
  command: ["smtpd", "-d", "-f", file],
  queue: ["/var/spool/smtpd/incoming", "/var/spool/smtpd/queue"],
};

async function startServer(
  { name, packages, config, command, queue }: Server,
  folder: string,
  sinkPort: number,
) {
  const port = await freePort();
  const root = await startInOwnRoot(folder, {
    packages,
    files: { [file]: config(port, sinkPort) },
    command,
  });
  await waitForServer(root, port);
  const rival: Rival = {
    name: `${name} ${root.version}`,
    port,
    pids: [root.pid],
    queue: queue.map(root.locate),
    close: root.close,
  };
  return rival;
}

/** How each of the other servers is started, by its name. Its files are in a new folder of `folder`. */
export const OTHERS: Record<string, (folder: string, sinkPort: number) => Promise<Rival>> = {
  [EXIM.name]: (folder, sinkPort) => startServer(EXIM, folder, sinkPort),
  [OPENSMTPD.name]: (folder, sinkPort) => startServer(OPENSMTPD, folder, sinkPort),
  Haraka: startHarakaRival,
};

import { existsSync, readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import type { ReplyClass } from "#server/shared/reply-classes";
import { startHaraka } from "../../support/processes/haraka";
import type { InstalledServer } from "../../support/processes/installed-server";
import { startInOwnRoot } from "../../support/processes/own-root";
import { makeCertificate } from "../../support/servers/certificate";

/** A reply as it is recorded, and its class. */
export type RejectingReply = { replyClass: ReplyClass; text: string };
type Place = { host: string; port: number };

/**
 * A mail server of another project. Its domain has the mailboxes `ben` and `cy`, and it rejects `late`
 * temporarily.
 */
export type DestinationServer = {
  name: string;
  domain: string;
  /** Installs it in a new folder of `parent` and starts it. Rejects if it cannot be installed. */
  start(parent: string, place: Place): Promise<InstalledServer>;
  /** Whether no TLS handshake with this version succeeds, although it offers STARTTLS. */
  isTlsBroken?(version: string): boolean;
  /** The header fields that it adds in front of a message. */
  adds: string[];
  /** The folders of accepted messages. A message for both mailboxes is stored in each of them. */
  stores: string[];
  /** Its replies to an unknown name of its domain, to `late`, and to a name of an unknown domain. */
  replies: Record<"nobody" | "late" | "elsewhere", RejectingReply>;
};

const folder = "/etc/destination";
/** Self-signed. */
const { key, cert } = makeCertificate({ names: ["mx.example.net"] });
const files = { [`${folder}/certificate.pem`]: cert, [`${folder}/key.pem`]: key };
const maildirs = ["/var/mail/ben/new", "/var/mail/cy/new"];

const EXIM: DestinationServer = {
  name: "Exim",
  domain: "exim.example",
  adds: ["Return-path", "Envelope-to", "Delivery-date", "Received"],
  stores: maildirs,
  replies: {
    nobody: { replyClass: "hard", text: "550 Unrouteable address" },
    late: { replyClass: "soft", text: "451 The mailbox is being moved" },
    elsewhere: { replyClass: "policy", text: "550 relay not permitted" },
  },
  start: (parent, { host, port }) =>
    startInOwnRoot(parent, {
      packages: "exim4-daemon-light",
      // With a configuration of another name it has no right to write to the mailboxes.
      command: ["exim4", "-bdf", "-q30m"],
      files: {
        ...files,
        [`${folder}/aliases`]: "late: :defer: The mailbox is being moved",
        "/etc/exim4/exim4.conf": `daemon_smtp_ports = ${port}
local_interfaces = ${host}
primary_hostname = mx.exim.example
keep_environment =
tls_certificate = ${folder}/certificate.pem
tls_privatekey = ${folder}/key.pem
acl_smtp_rcpt = recipients
# Otherwise the eleventh message of a connection waits for the next queue run.
smtp_accept_queue_per_connection = 0
domainlist local_domains = exim.example
begin acl
recipients:
  # Its name server is not that of the test.
  warn control = dkim_disable_verify
  require message = relay not permitted
    domains = +local_domains
  require verify = recipient
  accept
begin routers
aliases:
  driver = redirect
  data = \${lookup{$local_part}lsearch{${folder}/aliases}}
  allow_defer
mailboxes:
  driver = accept
  local_parts = ben : cy
  transport = maildir
begin transports
maildir:
  driver = appendfile
  maildir_format
  directory = /var/mail/$local_part_data
  delivery_date_add
  envelope_to_add
  return_path_add
  user = mail`,
      },
    }),
};

const OPENSMTPD: DestinationServer = {
  name: "OpenSMTPD",
  domain: "opensmtpd.example",
  // With OpenSSL 3, which Debian 12 has.
  isTlsBroken: (version) => version.startsWith("6.8."),
  adds: ["Return-Path", "Delivered-To", "Received"],
  stores: maildirs,
  replies: {
    nobody: { replyClass: "hard", text: "550 Invalid recipient: <nobody@opensmtpd.example>" },
    late: { replyClass: "soft", text: "450 The mailbox is being moved: <late@opensmtpd.example>" },
    elsewhere: { replyClass: "hard", text: "550 Invalid recipient: <ben@elsewhere.opensmtpd.example>" },
  },
  start: (parent, { host, port }) =>
    startInOwnRoot(parent, {
      packages: "opensmtpd",
      // It refuses a key that others can read.
      command: ["sh", "-c", `'chmod 600 ${folder}/key.pem; exec smtpd -d -f ${folder}/smtpd.conf'`],
      files: {
        ...files,
        [`${folder}/aliases`]: "late: error:450 The mailbox is being moved",
        [`${folder}/smtpd.conf`]: `pki server cert "${folder}/certificate.pem"
pki server key "${folder}/key.pem"
table aliases file:${folder}/aliases
table users { ben = "8:8:/var/mail", cy = "8:8:/var/mail" }
listen on ${host} port ${port} tls pki server hostname mx.opensmtpd.example
action "local" maildir "/var/mail/%{user.username}" userbase <users> alias <aliases>
match from any for domain "opensmtpd.example" action "local"`,
      },
    }),
};

const HARAKA: DestinationServer = {
  name: "Haraka",
  domain: "haraka.example",
  adds: ["Received"],
  stores: ["temporary"],
  replies: {
    nobody: { replyClass: "hard", text: "550 I cannot deliver mail for <nobody@haraka.example>" },
    // Only the code says that it is temporary.
    late: { replyClass: "hard", text: "450 recipient <late@haraka.example> denied" },
    elsewhere: { replyClass: "hard", text: "550 I cannot deliver mail for <ben@elsewhere.haraka.example>" },
  },
  start: (parent, { host, port }) =>
    startHaraka(parent, {
      "config/me": "mx.haraka.example\n",
      "config/smtp.ini": `listen=${host}:${port}\n`,
      "config/log.ini": "level=ERROR\n",
      "config/plugins": "tls\nmailboxes\nqueue/test\n",
      "config/tls_cert.pem": cert,
      "config/tls_key.pem": key,
      "plugins/mailboxes.js": `exports.hook_rcpt = (next, connection, [{ user, host }]) => {
  if (host !== "haraka.example") next();
  else if (user === "late") next(DENYSOFT);
  else next(["ben", "cy"].includes(user) ? OK : CONT);
};`,
    }),
};

export const SERVERS: readonly DestinationServer[] = [EXIM, OPENSMTPD, HARAKA];

/** The messages that it stored, with the line ends of SMTP. */
export function readStored({ stores }: DestinationServer, { locate }: InstalledServer): string[] {
  const folders = stores.map(locate).filter((place) => existsSync(place));
  const files = folders.flatMap((place) => readdirSync(place).map((name) => path.join(place, name)));
  return files.map((file) => readFileSync(file, "latin1").replaceAll(/\r?\n/g, "\r\n"));
}

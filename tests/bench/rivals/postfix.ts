import { execFileSync } from "node:child_process";
import path from "node:path";
import { createDkimKeyPair } from "#server/mail/dkim/key";
import { waitForServer } from "../../support/processes/installed-server";
import { startInOwnRoot } from "../../support/processes/own-root";
import { postfixMissing, startPostfix } from "../../support/processes/postfix";
import { freePort } from "../../support/servers/free-port";
import { SENDER_DOMAIN } from "../sample-email";
import { connectionsOut, type Rival } from "./rival";

/**
 * What an operator sets for one relay and many local clients; everything else has its default, also the
 * `fsync` of each queue file, 100 processes of each kind and 20,000 emails in the active queue.
 */
const settingsFor = (sinkPort: number): string[] => [
  `relayhost = [127.0.0.1]:${sinkPort}`,
  "transport_maps =",
  "virtual_mailbox_domains =",
  "virtual_alias_maps =",
  // Accepting does not wait for sending.
  "in_flow_delay = 0",
  // As many connections as a worker of Backstamp has, from the first email on.
  `smtp_destination_concurrency_limit = ${connectionsOut}`,
  `initial_destination_concurrency = ${connectionsOut}`,
  "queue_run_delay = 300s",
  "minimal_backoff_time = 300s",
  "maximal_backoff_time = 4000s",
];

export type PostfixRival = Rival & {
  /** Accepts email and holds it. */
  heldPort: number;
  /** Moves what is held to the queue, which `flush` sends. */
  release(): void;
  flush(): void;
  /** Deletes what is held. */
  discard(): void;
  /** The same server behind OpenDKIM, or why it is not there. */
  signed: Rival | string;
};

/** Starts Postfix, and OpenDKIM for the email that arrives at another port of it. */
export async function startPostfixRival(folder: string, sinkPort: number): Promise<PostfixRival> {
  if (postfixMissing !== null) throw new Error(postfixMissing);
  const [heldPort, signedPort, milterPort] = [await freePort(), await freePort(), await freePort()];
  const postfix = await startPostfix({
    mailboxes: [],
    routes: {},
    settings: settingsFor(sinkPort),
    services: [
      `127.0.0.1:${heldPort} inet n - n - - smtpd -o smtpd_data_restrictions=check_client_access,static:HOLD`,
      `127.0.0.1:${signedPort} inet n - n - - smtpd -o smtpd_milters=inet:127.0.0.1:${milterPort}`,
    ],
  });
  const version = execFileSync("/usr/sbin/postconf", ["-h", "mail_version"], { encoding: "utf8" }).trim();
  const signer = await startOpenDkim(folder, milterPort).catch((error: Error) => error.message);
  const folderOf = (name: string) => path.join(postfix.queue, name);
  const rival: Rival = {
    name: `Postfix ${version}`,
    port: postfix.port,
    pids: [postfix.pid],
    queue: ["maildrop", "incoming", "active", "deferred"].map(folderOf),
    async close() {
      if (typeof signer !== "string") await signer.close();
      await postfix.close();
    },
  };
  return {
    ...rival,
    heldPort,
    release: () => postfix.run("postsuper", "-H", "ALL"),
    flush: () => postfix.run("postqueue", "-f"),
    discard: () => postfix.run("postsuper", "-d", "ALL", "hold"),
    signed:
      typeof signer === "string"
        ? signer
        : {
            ...rival,
            name: `${rival.name} with OpenDKIM ${signer.version}`,
            port: signedPort,
            pids: [postfix.pid, signer.pid],
          },
  };
}

/** OpenDKIM with Debian's settings and an RSA key of 2048 bits. */
async function startOpenDkim(folder: string, port: number) {
  const { privateKey } = await createDkimKeyPair("rsa");
  const signer = await startInOwnRoot(folder, {
    packages: "opendkim",
    files: {
      "/etc/bench/dkim.key": privateKey,
      "/etc/bench/opendkim.conf": `Mode s
Domain ${SENDER_DOMAIN}
Selector bench
KeyFile /etc/bench/dkim.key
RequireSafeKeys no
Canonicalization relaxed/relaxed
Socket inet:${port}@127.0.0.1
Background no
Syslog no`,
    },
    command: ["opendkim", "-f", "-x", "/etc/bench/opendkim.conf"],
  });
  await waitForServer(signer, port);
  return signer;
}

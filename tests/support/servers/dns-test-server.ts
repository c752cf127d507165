import { createSocket, type Socket as UdpSocket } from "node:dgram";
import { once } from "node:events";
import { createServer, type Server, type Socket } from "node:net";
import { setTimeout as wait } from "node:timers/promises";
import { type Answer, decode, encode, type Packet, type RecordType, streamEncode } from "dns-packet";
import { openOnFreePort } from "./free-port";

export type DnsQuestion = { name: string; type: RecordType };

/** The response to a query: records, or a fault. `silent` means no response. */
export type DnsReply = {
  answers?: Answer[];
  rcode?: "NOERROR" | "FORMERR" | "SERVFAIL" | "NXDOMAIN" | "REFUSED";
  /**
   * Sends the header with the truncation flag and no records over UDP, so that the client repeats the query
   * over TCP.
   */
  isTruncated?: boolean;
  afterMs?: number;
  silent?: boolean;
};

/** The reply to the nth query (from 1) for this name and type. Null: no such name. */
export type DnsScript = (question: DnsQuestion, nth: number) => DnsReply | null;

export type DnsTestServer = {
  host: string;
  port: number;
  /** All received queries, in order. */
  asked: (DnsQuestion & { over: "udp" | "tcp" })[];
  close(): Promise<void>;
};

const RCODES = { NOERROR: 0, FORMERR: 1, SERVFAIL: 2, NXDOMAIN: 3, REFUSED: 5 };
const AUTHORITATIVE = 1 << 10;
const TRUNCATED = 1 << 9;

/** A DNS server on loopback, over UDP and TCP, that responds as its script defines (RFC 1035). */
export async function startDnsTestServer(script: DnsScript): Promise<DnsTestServer> {
  const asked: DnsTestServer["asked"] = [];
  const sockets = new Set<Socket>();
  const tcp = createServer((socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket)).on("error", () => socket.destroy());
    let waiting = Buffer.alloc(0);
    socket.on("data", async (chunk) => {
      waiting = Buffer.concat([waiting, chunk]);
      while (waiting.length >= 2 && waiting.length >= 2 + waiting.readUInt16BE(0)) {
        const length = waiting.readUInt16BE(0);
        const query = decode(waiting.subarray(2, 2 + length));
        waiting = waiting.subarray(2 + length);
        const reply = await replyTo(query, "tcp");
        if (reply && !socket.destroyed) socket.write(streamEncode(reply));
      }
    });
  });

  async function replyTo(query: Packet, over: "udp" | "tcp"): Promise<Packet | null> {
    const question = query.questions?.[0];
    if (!question) return null;
    const { type } = question;
    const name = question.name.toLowerCase();
    asked.push({ name, type, over });
    const nth = asked.filter((earlier) => earlier.name === name && earlier.type === type).length;
    const reply = script({ name, type }, nth) ?? { rcode: "NXDOMAIN" };
    if (reply.silent) return null;
    if (reply.afterMs) await wait(reply.afterMs);
    const isTruncated = over === "udp" && reply.isTruncated === true;
    return {
      type: "response",
      id: query.id,
      flags: RCODES[reply.rcode ?? "NOERROR"] | AUTHORITATIVE | (isTruncated ? TRUNCATED : 0),
      questions: query.questions,
      answers: isTruncated ? [] : (reply.answers ?? []),
    };
  }

  const { udp, port } = await listenOnBoth(tcp);
  udp.on("message", async (bytes, client) => {
    const reply = await replyTo(decode(bytes), "udp");
    if (reply) udp.send(encode(reply), client.port, client.address, () => {});
  });
  return {
    host: "127.0.0.1",
    port,
    asked,
    close: async () => {
      for (const socket of sockets) socket.destroy();
      await Promise.all([
        new Promise<void>((resolve) => udp.close(() => resolve())),
        new Promise<void>((resolve) => tcp.close(() => resolve())),
      ]);
    },
  };
}

/** The addresses of a name as records of the requested type. Addresses with a colon are IPv6. */
export function addressRecords({ name, type }: DnsQuestion, addresses: readonly string[]): Answer[] {
  return addresses.flatMap((data): Answer[] => {
    const kind = data.includes(":") ? "AAAA" : "A";
    return kind === type ? [{ name, type: kind, ttl: 0, data }] : [];
  });
}

/** A port for both protocols: clients repeat a truncated query over TCP. */
const listenOnBoth = (tcp: Server): Promise<{ udp: UdpSocket; port: number }> =>
  openOnFreePort(async (port) => {
    tcp.listen(port, "127.0.0.1");
    await once(tcp, "listening");
    const udp = createSocket("udp4");
    try {
      udp.bind(port, "127.0.0.1");
      await once(udp, "listening");
    } catch (error) {
      udp.close();
      tcp.close();
      await once(tcp, "close");
      throw error;
    }
    return { udp, port };
  });

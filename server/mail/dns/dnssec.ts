import { randomInt } from "node:crypto";
import { createSocket } from "node:dgram";
import { once } from "node:events";
import { BlockList, connect, isIPv6 } from "node:net";
import {
  type Answer,
  AUTHENTIC_DATA,
  type DecodedPacket,
  DNSSEC_OK,
  decode,
  encode,
  type Packet,
  RECURSION_DESIRED,
  type RecordType,
  streamEncode,
} from "dns-packet";
import type { NameServer } from "#server/platform/egress/resolve";

/**
 * The answer section of one response. `isSecure`: the name server validated it with DNSSEC (the AD flag, RFC
 * 4035 section 3.2.3).
 */
export type ValidatedResponse = { rcode: string; isSecure: boolean; answers: Answer[] };

/** Datagrams of this size are not fragmented. A longer response is repeated over TCP. */
const datagramBytesMax = 1_232;
const nameCharsMax = 253;
const labelCharsMax = 63;

const loopback = new BlockList();
loopback.addSubnet("127.0.0.0", 8);
loopback.addAddress("::1", "ipv6");
/** These only forward queries, over unprotected networks: Docker's, and one of systemd-resolved. */
const forwarders = new Set(["127.0.0.11", "127.0.0.54"]);

/** Whether responses of this name server cannot be changed on their way: it runs on this machine. */
export const isLoopbackNameServer = (host: string): boolean =>
  !forwarders.has(host) && loopback.check(host, isIPv6(host) ? "ipv6" : "ipv4");

/** Whether DNS can encode this name (RFC 1035 section 2.3.4). Others do not exist. */
export const isEncodable = (name: string): boolean =>
  name.length <= nameCharsMax &&
  name
    .replace(/\.$/, "")
    .split(".")
    .every((label) => label !== "" && Buffer.byteLength(label) <= labelCharsMax);

/**
 * Sends a query to a validating name server, and asks for the result of its validation. Node's own resolver
 * does not return it. Rejects if there is no valid response, and on abort.
 */
export async function queryValidating(
  server: NameServer,
  name: string,
  type: RecordType,
  signal: AbortSignal,
): Promise<ValidatedResponse> {
  const query: Packet = {
    type: "query",
    id: randomInt(65_536),
    flags: RECURSION_DESIRED | AUTHENTIC_DATA,
    questions: [{ type, name }],
    additionals: [
      {
        type: "OPT",
        name: ".",
        udpPayloadSize: datagramBytesMax,
        extendedRcode: 0,
        ednsVersion: 0,
        flags: DNSSEC_OK,
        flag_do: true,
        options: [],
      },
    ],
  };
  let response = decode(await exchangeDatagrams(server, encode(query), signal));
  if (response.flag_tc) response = decode(await exchangeOverTcp(server, streamEncode(query), signal));
  if (response.id !== query.id) throw new Error("The response belongs to another query.");
  const { rcode, flag_ad: isSecure, answers = [] } = response as DecodedPacket & { rcode: string };
  return { rcode, isSecure, answers };
}

async function exchangeDatagrams(
  { host, port }: NameServer,
  query: Buffer,
  signal: AbortSignal,
): Promise<Buffer> {
  const socket = createSocket(isIPv6(host) ? "udp6" : "udp4");
  // Of an error after the response.
  socket.on("error", () => {});
  try {
    // A connected socket receives datagrams of this server only.
    socket.connect(port, host);
    await once(socket, "connect", { signal });
    socket.send(query);
    const [response] = await once(socket, "message", { signal });
    return response;
  } finally {
    socket.close();
  }
}

async function exchangeOverTcp(
  { host, port }: NameServer,
  query: Buffer,
  signal: AbortSignal,
): Promise<Buffer> {
  const socket = connect({ host, port, signal });
  socket.write(query);
  let received = Buffer.alloc(0);
  for await (const chunk of socket) {
    received = Buffer.concat([received, chunk]);
    const length = received.length < 2 ? Number.POSITIVE_INFINITY : received.readUInt16BE(0);
    if (received.length >= length + 2) return received.subarray(2, length + 2);
  }
  throw new Error("The name server closed the connection without a response.");
}

import { connect, createServer, type Socket } from "node:net";

/*
 * Forwards connections from one address and port to another, and holds back what clients send for some ms: a
 * round trip takes as much longer. Not every kernel has netem. Arguments: address, that of the target, port,
 * ms.
 */
const [address = "", target = "", port = "", ms = "0"] = process.argv.slice(2);

const forward = (from: Socket, to: Socket, waitMs: number) => {
  const later = (run: () => void) => (waitMs > 0 ? setTimeout(run, waitMs) : run());
  from.setNoDelay(true);
  from.on("data", (chunk) => void later(() => to.write(chunk)));
  from.on("error", () => {});
  from.on("close", () => void later(() => to.destroy()));
};

createServer((client) => {
  const server = connect(Number(port), target);
  forward(client, server, Number(ms));
  forward(server, client, 0);
}).listen(Number(port), address, () => process.stdout.write("ready\n"));

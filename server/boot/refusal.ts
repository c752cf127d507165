import type { Settings } from "#server/env";
import type { Holder } from "./lock";

/** A start that cannot be, for a reason that the operator can mend: the message is all that is shown. */
export class Refusal extends Error {
  override name = "Refusal";
}

type Place = Pick<Settings, "mode" | "host" | "port" | "dataDir">;

const commandOf = ({ mode }: Place): string => (mode === "dev" ? "npm run dev" : "npm start");

/** Why the port could not be bound, and what to do. */
export function explainListen(error: NodeJS.ErrnoException, place: Place): Error {
  const { host, port } = place;
  const other = `PORT=${port < 65_535 ? port + 1 : 3000} ${commandOf(place)}`;
  switch (error.code) {
    case "EADDRINUSE":
      return new Refusal(
        `Port ${port} on ${host} is taken by another program. Stop that one, or take another port: ${other}`,
        { cause: error },
      );
    case "EACCES":
      return new Refusal(
        `This user may not listen on port ${port}. Take one above 1023: PORT=3000 ${commandOf(place)}`,
        {
          cause: error,
        },
      );
    case "EADDRNOTAVAIL":
    case "ENOTFOUND":
    case "EAI_AGAIN":
      return new Refusal(
        `HOST: "${host}" is no address of this machine. Give 127.0.0.1, or 0.0.0.0 for all.`,
        {
          cause: error,
        },
      );
    default:
      return error;
  }
}

/** Who has the data directory already, and what to do. */
export function explainHolder({ pid, purpose, url }: Holder, place: Place): Refusal {
  const where = url ? `at ${url}` : "and is just starting";
  return new Refusal(
    `Posthorn runs already with this data (${place.dataDir}): process ${pid} (${purpose}) ${where}.\n` +
      `Use that one, or stop it first: kill ${pid}`,
  );
}

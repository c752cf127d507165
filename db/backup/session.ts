import type { Socket } from "node:net";
import postgres, { type ReservedSql } from "postgres";
import { blanks, createDialer } from "../postgres-js/dial";

/**
 * The forms of values in `COPY`, the same for writing and reading, and no time limits: a table can take
 * hours.
 */
const SETTINGS = `
  select set_config(name, value, true) from (values ('datestyle', 'ISO, YMD'), ('intervalstyle', 'postgres'),
    ('bytea_output', 'hex'), ('extra_float_digits', '3'), ('timezone', 'UTC'), ('statement_timeout', '0'), ('lock_timeout', '0'),
    ('idle_in_transaction_session_timeout', '0'), ('transaction_timeout', '0')) as s(name, value)
  where exists (select from pg_settings p where p.name = s.name)`;

/**
 * Runs a task in one transaction of its own connection, which also works behind a transaction pooler. `mode`
 * is the text after `BEGIN`. If the task fails, the connection is closed, and PostgreSQL rolls back: no
 * statement of the driver follows a failed `COPY`.
 *
 * Call `resume` when the stream of a `COPY … TO STDOUT` has ended: the driver pauses its socket while a
 * stream is full, and resumes it only for a stream that has not ended.
 */
export async function inLongTransaction<T>(
  url: string,
  { mode, name }: { mode: string; name: string },
  task: (tx: ReservedSql, resume: () => void) => Promise<T>,
): Promise<T> {
  const dialer = createDialer(url);
  let socket: Socket | undefined;
  const watched = {
    ...dialer,
    socket: async (target: Parameters<typeof dialer.socket>[0]) => {
      socket = await dialer.socket(target);
      return socket;
    },
  };
  const sql = postgres(url, {
    ...watched,
    connection: { application_name: `${name}${blanks}` },
    max: 1,
    onnotice: () => {},
    connect_timeout: 10,
    fetch_types: false,
    prepare: false,
  });
  try {
    // Without its type query, the driver never resolves the reservation of a connection that is not open yet.
    await sql.unsafe("select 1");
    const tx = await sql.reserve();
    await tx.unsafe(`begin ${mode}`);
    await tx.unsafe(SETTINGS);
    const result = await task(tx, () => socket?.resume());
    await tx.unsafe("commit");
    return result;
  } finally {
    await sql.end({ timeout: 0 });
    // After a failed COPY it is paused, never sees its end, and would keep the process alive.
    socket?.destroy();
  }
}

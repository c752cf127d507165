import postgres from "postgres";

/** Runs a task with a connection of its own, which is open within `connectSeconds` and then closed. */
export async function withConnection<T>(
  url: string,
  connectSeconds: number,
  task: (sql: postgres.Sql) => Promise<T>,
): Promise<T> {
  const sql = postgres(url, {
    max: 1,
    connect_timeout: connectSeconds,
    onnotice: () => {},
    fetch_types: false,
    prepare: false,
  });
  try {
    return await task(sql);
  } finally {
    await sql.end({ timeout: 1 });
  }
}

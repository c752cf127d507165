import { randomUUID } from "node:crypto";
import postgres from "postgres";
import { inject } from "vitest";

export type RoleDatabase = {
  url: string;
  /** Ends the connections of the role, as a restart does. */
  endConnections(): Promise<void>;
  drop(): Promise<void>;
};

/** An empty database whose owner is an ordinary role, as hosting providers create it. */
export async function createRoleDatabase(): Promise<RoleDatabase> {
  const name = `role_${randomUUID().replaceAll("-", "")}`;
  const sql = postgres(inject("postgresUrl"), { max: 1, onnotice: () => {} });
  await sql.unsafe(`create role ${name} login password 'correct horse battery'`);
  await sql.unsafe(`create database ${name} owner ${name}`);
  const url = new URL(inject("postgresUrl"));
  Object.assign(url, { username: name, password: "correct horse battery", pathname: `/${name}` });
  return {
    url: url.href,
    endConnections: async () => {
      await sql`select pg_terminate_backend(pid) from pg_stat_activity where usename = ${name}`;
    },
    drop: async () => {
      await sql.unsafe(`drop database if exists ${name} with (force)`);
      await sql.unsafe(`drop role if exists ${name}`);
      await sql.end();
    },
  };
}

import { and, asc, desc, eq, gt, ilike, isNull, lt, sql } from "drizzle-orm";
import { teamDeletions } from "#db/schema/audit";
import { queuePauses, sendingDays } from "#db/schema/deliveries";
import { domains } from "#db/schema/domains";
import { memberships, teams } from "#db/schema/teams";
import type { Deps } from "#server/deps";
import { type PageQuery, pageOf } from "../paging";
import { IS_WAITING } from "../pauses/waiting";
import { isTodayOfTeam } from "../teams";

/** Deliveries that a count reads; more are shown as "more than". */
export const waitingMax = 1_000;

const waits = sql`${sql.raw(IS_WAITING)} and q.team_id = ${teams.id}`;

/** The teams, newest first, with the size of their queues. For the operator only: it reads all teams. */
export const listTeamSummaries = (
  { db }: Pick<Deps, "db">,
  { search, ...query }: PageQuery & { search?: string },
) =>
  pageOf(query, (cursor, order, limit) =>
    db
      .select({
        id: teams.id,
        name: teams.name,
        createdAt: teams.createdAt,
        members: db.$count(memberships, eq(memberships.teamId, teams.id)),
        /** Own domains, without the built-in one. */
        domains: db.$count(
          domains,
          and(eq(domains.teamId, teams.id), sql`${domains.name} <> 'backstamp.test'`),
        ),
        dailyCap: teams.dailyCap,
        handedOverToday: sql<number>`coalesce(${sendingDays.handedOver}, 0)`,
        /** Deliveries in the queue that are due or delayed, up to `waitingMax`. */
        waiting: sql<number>`(select count(*)::int from (
          select from queue q where ${waits} and (q.status = 'queued' or q.due_at <= now())
          limit ${waitingMax}) as waiting)`,
        oldestDueAt: sql<Date | null>`(select min(first.due_at) from (values (0), (1), (2)) as p(rank)
          cross join lateral (select q.due_at from queue q
            where ${waits} and q.priority = p.rank and q.due_at <= now() order by q.due_at, q.id limit 1) as first)`.mapWith(
          teams.createdAt,
        ),
        /** The reason while the team is paused. */
        pauseReason: queuePauses.reason,
        /** When the team will be deleted; null if that is not requested. */
        deletesAt: teamDeletions.deletesAt,
      })
      .from(teams)
      .leftJoin(sendingDays, isTodayOfTeam)
      .leftJoin(
        queuePauses,
        and(eq(queuePauses.teamId, teams.id), isNull(queuePauses.domain), isNull(queuePauses.liftedAt)),
      )
      .leftJoin(teamDeletions, and(eq(teamDeletions.teamId, teams.id), isNull(teamDeletions.canceledAt)))
      .where(
        and(
          search ? ilike(teams.name, `%${search.replace(/[\\%_]/g, "\\$&")}%`) : undefined,
          cursor && (cursor.direction === "older" ? lt : gt)(teams.id, cursor.id),
        ),
      )
      .orderBy((order === "newest" ? desc : asc)(teams.id))
      .limit(limit),
  );

import Link from "next/link";
import { pageSession } from "#server/trpc/caller";

/** What does not exist and what belongs to another team look the same. Whoever is in no team at all is told what would help. */
export default async function ConsoleNotFound() {
  const session = await pageSession();
  const isAlone = session !== null && session.memberships.length === 0;
  return (
    <div className="flex flex-col items-center gap-3 px-4 py-16 text-center">
      <h1 className="font-semibold text-base">{isAlone ? "You are in no team" : "There is nothing here"}</h1>
      <p className="max-w-prose text-soft leading-6">
        {isAlone
          ? `Ask an owner or an admin of a team to invite ${session.user.email}. The link that they get for you opens the team.`
          : "It does not exist, or it belongs to a team that you are not in."}
      </p>
      {isAlone ? null : (
        <Link href="/console" className="text-accent underline underline-offset-4 hover:text-accent-strong">
          Go to the console
        </Link>
      )}
    </div>
  );
}

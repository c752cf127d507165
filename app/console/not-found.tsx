import Link from "next/link";

/** What does not exist and what belongs to another team look the same. */
export default function ConsoleNotFound() {
  return (
    <div className="flex flex-col items-center gap-3 px-4 py-16 text-center">
      <h1 className="font-semibold text-base">There is nothing here</h1>
      <p className="text-soft">It does not exist, or it belongs to a team that you are not in.</p>
      <Link href="/console" className="text-accent underline underline-offset-4 hover:text-accent-strong">
        Go to the console
      </Link>
    </div>
  );
}

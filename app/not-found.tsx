import Link from "next/link";

/** Answers every address that has no page. */
export default function NotFound() {
  return (
    <main className="mx-auto flex min-h-dvh max-w-md flex-col justify-center gap-3 px-6">
      <h1 className="font-semibold text-xl">There is no such page</h1>
      <p className="text-soft">The address may be mistyped, or what it showed belongs to another team.</p>
      <Link href="/console" className="text-accent underline underline-offset-4 hover:text-accent-strong">
        Go to the console
      </Link>
    </main>
  );
}

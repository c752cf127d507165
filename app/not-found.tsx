/** The page for URLs that do not exist. */
export default function NotFound() {
  return (
    <main className="mx-auto flex min-h-dvh max-w-md flex-col justify-center gap-3 px-6">
      <h1 className="font-semibold text-xl">Page not found</h1>
      <p className="text-soft">Check the URL. The page may also belong to another team.</p>
      {/* Not a `Link`: every page loads the scripts of this one, in which it would be a second time. */}
      <a href="/console" className="text-accent underline underline-offset-4 hover:text-accent-strong">
        Go to the console
      </a>
    </main>
  );
}

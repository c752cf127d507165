import type { InstallationFault } from "#server/trpc/installation/fault";

/**
 * Shown instead of every page while the installation is not set up completely, with what the operator can do.
 */
export function Unavailable({ fault: { title, steps } }: { fault: InstallationFault }) {
  return (
    <main className="mx-auto flex min-h-dvh max-w-xl flex-col justify-center gap-3 px-6" role="alert">
      <h1 className="font-semibold text-xl">{title}</h1>
      <p className="text-soft">Backstamp cannot serve this page until the operator corrects this:</p>
      <ul className="flex flex-col gap-2">
        {steps.map(({ setting, text }) => (
          <li key={`${setting} ${text}`} className="leading-6">
            {setting ? <code className="font-mono text-sm">{setting}</code> : null} {text}
          </li>
        ))}
      </ul>
    </main>
  );
}

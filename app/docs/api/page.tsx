import type { Metadata } from "next";
import Link from "next/link";
import { Brand } from "../../console/_ui/shell/brand";
import { Reference } from "./reference";

export const metadata: Metadata = { title: "API reference" };

/** The public reference of the REST API. Renders `/api/openapi.json`. */
export default function DocsPage() {
  return (
    <div className="min-h-dvh">
      <header className="flex items-center justify-between gap-4 border-line border-b px-4 py-3 sm:px-8">
        <Link href="/" aria-label="Console">
          <Brand />
        </Link>
        <nav aria-label="Documents" className="flex gap-4">
          <a href="/docs" className="text-accent underline-offset-2 hover:underline">
            Guides
          </a>
          <a href="/api/openapi.json" className="text-accent underline-offset-2 hover:underline">
            openapi.json
          </a>
        </nav>
      </header>
      <main>
        <Reference />
      </main>
    </div>
  );
}

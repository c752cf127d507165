import type { Metadata } from "next";
import { redirect } from "next/navigation";
import { landingPath, pageSession } from "#server/trpc/caller";
import { Brand } from "../console/_ui/brand";
import { LoginForm } from "./form";

export const metadata: Metadata = { title: "Sign in" };

type Props = { searchParams: Promise<{ callbackUrl?: string | string[] }> };

/** Sign-in; whoever is signed in already is sent on. */
export default async function LoginPage({ searchParams }: Props) {
  const { callbackUrl } = await searchParams;
  const landing = landingPath(typeof callbackUrl === "string" ? callbackUrl : undefined);
  if (await pageSession()) redirect(landing);
  return (
    <main className="grid min-h-dvh place-items-center bg-sunk px-4 py-12">
      <div className="w-full max-w-sm">
        <div className="mb-6 flex justify-center">
          <Brand />
        </div>
        <div className="rounded-xl border border-line bg-page p-6 sm:p-8">
          <h1 className="mb-6 font-semibold text-lg">Sign in</h1>
          <LoginForm landing={landing} />
        </div>
      </div>
    </main>
  );
}

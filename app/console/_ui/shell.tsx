import Link from "next/link";
import type { ReactNode } from "react";
import { AccountMenu } from "./account-menu";
import { DeliveryBanner } from "./banner";
import { Brand } from "./brand";
import { Keyboard } from "./keyboard";
import { Navigation } from "./navigation";
import { TeamName } from "./team-name";

/** The frame of every console page: beside it on a wide screen, above it on a narrow one. */
export function Shell({ email, children }: { email: string; children: ReactNode }) {
  return (
    <div className="min-h-dvh md:grid md:grid-cols-[15rem_minmax(0,1fr)]">
      <a
        href="#main"
        className="sr-only focus:not-sr-only focus:absolute focus:z-30 focus:m-2 focus:rounded-lg focus:bg-page focus:px-3 focus:py-2"
      >
        Skip to the page
      </a>
      <header className="border-line border-b bg-sunk md:border-r md:border-b-0">
        <div className="flex flex-wrap items-center gap-x-3 gap-y-1 px-4 py-2 md:sticky md:top-0 md:h-dvh md:flex-col md:flex-nowrap md:items-stretch md:gap-6 md:py-5">
          <div className="flex min-w-0 flex-col md:px-2.5">
            <Link href="/console" className="self-start rounded-md">
              <Brand />
            </Link>
            <TeamName />
          </div>
          <div className="order-last w-full md:order-none">
            <Navigation />
          </div>
          <div className="ml-auto min-w-0 max-w-48 md:mt-auto md:ml-0 md:max-w-none">
            <AccountMenu email={email} />
          </div>
        </div>
      </header>
      <Keyboard />
      <div className="min-w-0">
        <DeliveryBanner />
        <main id="main" className="mx-auto w-full max-w-6xl px-4 py-6 md:px-8 md:py-10">
          {children}
        </main>
      </div>
    </div>
  );
}

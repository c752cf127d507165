import type { ReactNode } from "react";
import { ConnectionBar } from "../connection/connection-bar";
import { Keyboard } from "../palette/keyboard";
import { SearchButton } from "../palette/search-button";
import { DeliveryBanner } from "../text/banner";
import { Brand } from "./brand";
import { LeaveGuard } from "./leave-guard";
import { PhoneMenu } from "./phone-menu";
import { AccountMenu, HomeLink, Navigation, TeamSwitcher } from "./sidebar";

/** The frame of every console page: a sidebar on wide screens, a top bar with a menu button on a phone. */
export const Shell = ({ email, children }: { email: string; children: ReactNode }) => (
  <LeaveGuard>
    <Keyboard>
      <div className="min-h-dvh print:block md:grid md:grid-cols-[15rem_minmax(0,1fr)]">
        <a
          href="#main"
          className="sr-only focus:not-sr-only focus:absolute focus:z-30 focus:m-2 focus:rounded-lg focus:bg-page focus:px-3 focus:py-2"
        >
          Skip to content
        </a>
        <header className="print:hidden border-line border-b bg-sunk max-md:sticky max-md:top-0 max-md:z-20 md:border-r md:border-b-0">
          <div className="flex h-14 items-center gap-1 pr-2 pl-4 md:sticky md:top-0 md:h-dvh md:flex-col md:items-stretch md:gap-4 md:overflow-y-auto md:px-3 md:py-5">
            <HomeLink className="mr-auto flex w-fit rounded-md md:mr-0 md:ml-2.5">
              <Brand />
            </HomeLink>
            <div className="flex md:flex-col md:gap-2">
              <div className="max-md:hidden">
                <TeamSwitcher />
              </div>
              <SearchButton />
            </div>
            <div className="md:hidden">
              <PhoneMenu email={email} />
            </div>
            <div className="max-md:hidden">
              <Navigation />
            </div>
            <div className="mt-auto min-w-0 max-md:hidden">
              <AccountMenu email={email} />
            </div>
          </div>
        </header>
        <div className="min-w-0">
          <ConnectionBar />
          <DeliveryBanner />
          <main id="main" className="mx-auto w-full max-w-6xl px-4 py-6 md:px-8 md:py-10 print:p-0">
            {children}
          </main>
        </div>
      </div>
    </Keyboard>
  </LeaveGuard>
);

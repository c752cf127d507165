"use client";

import { type ComponentType, lazy } from "react";
import { buttonStyle } from "./styles";

/**
 * A part of a page whose code comes when it is first shown. Code that cannot be fetched, since the connection is gone or a
 * newer version was installed meanwhile, leaves the page as it is and offers to load it again.
 */
export const lazyPart = <Props extends object>(load: () => Promise<ComponentType<Props>>) =>
  lazy(
    async (): Promise<{ default: ComponentType<Props> }> => ({
      default: await load().catch(() => MissingPart),
    }),
  );

function MissingPart() {
  return (
    <div
      role="alert"
      className="fixed inset-x-4 bottom-4 z-50 flex flex-wrap items-center gap-x-4 gap-y-2 rounded-xl border border-line bg-page p-4 text-left font-normal text-ink text-sm shadow-lg md:left-auto md:w-96"
    >
      <p className="grow basis-56 whitespace-normal">
        This part could not be fetched. The connection was lost, or a newer version is running.
      </p>
      <button type="button" onClick={() => window.location.reload()} className={`${buttonStyle.plain} h-9`}>
        Load the page again
      </button>
    </div>
  );
}

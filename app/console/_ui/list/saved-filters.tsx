"use client";

import { useQuery } from "@tanstack/react-query";
import { Bookmark, Settings2 } from "lucide-react";
import { type MouseEvent, type ReactNode, useEffect, useState } from "react";
import type { SavedList } from "#server/shared/lists/saved-lists";
import { Button } from "../form/button";
import { lazyDialog } from "../page/lazy-part";
import { iconButtonStyle } from "../styles";
import { useConsoleHref } from "../team";
import { useTRPC } from "../trpc";
import { fromSavedFilters, toSavedFilters } from "./day-range";

const load = () => import("./saved-filter-dialogs");
const SaveDialog = lazyDialog(async () => (await load()).SaveFilterDialog);
const ManageDialog = lazyDialog(async () => (await load()).ManageFiltersDialog);

/** Where a list has saved filters: its path, its current filters as in the URL, and how to set others. */
export type SavedPlace = {
  list: SavedList;
  path: string;
  current: Record<string, string>;
  open: (filters: Record<string, string>) => void;
};

type Props = SavedPlace & { teamId: string; className?: string; children?: ReactNode };

/**
 * The member's saved filters of a list, as links, with the button that saves the current ones. `children` are
 * further controls of the line. Without filters of either kind there is no line.
 */
export function SavedFilters({ teamId, list, path, current, open, className = "", children }: Props) {
  const trpc = useTRPC();
  const [dialog, setDialog] = useState<"save" | "manage" | null>(null);
  // The server does not know the time zone, in which "today" begins.
  const [isInBrowser, setInBrowser] = useState(false);
  useEffect(() => setInBrowser(true), []);
  const { data } = useQuery(
    trpc.savedFilters.list.queryOptions({ team: teamId }, { staleTime: Number.POSITIVE_INFINITY }),
  );
  const saved = (data ?? []).filter((each) => each.list === list);
  const isFiltered = Object.keys(current).length > 0;
  const toLink = (filters: Record<string, string>) => (isInBrowser ? fromSavedFilters(filters) : filters);
  const active = saved.find(({ filters }) => isSame(toLink(filters), current));
  const close = () => setDialog(null);
  return (
    <>
      {saved.length > 0 || isFiltered ? (
        <div className={`flex flex-wrap items-center gap-2 ${className}`}>
          {saved.length > 0 ? (
            <div className="flex min-w-0 max-w-full items-center gap-2">
              <nav
                aria-label="Saved filters"
                className="-m-1 flex min-w-0 gap-2 p-1 max-md:overflow-x-auto md:flex-wrap"
              >
                {saved.map((each) => (
                  <Chip
                    key={each.id}
                    name={each.name}
                    path={path}
                    filters={toLink(each.filters)}
                    isActive={each === active}
                    onOpen={() => open(fromSavedFilters(each.filters))}
                  />
                ))}
              </nav>
              <button
                type="button"
                title="Manage saved filters"
                aria-label="Manage saved filters"
                onPointerEnter={ManageDialog.preload}
                onClick={() => setDialog("manage")}
                className={iconButtonStyle}
              >
                <Settings2 className="size-4" aria-hidden="true" />
              </button>
            </div>
          ) : null}
          {isFiltered && !active ? (
            <Button
              tone="quiet"
              isSmall
              Icon={Bookmark}
              onPointerEnter={SaveDialog.preload}
              onClick={() => setDialog("save")}
              className="text-xs"
            >
              Save filter…
            </Button>
          ) : null}
          {children}
        </div>
      ) : null}
      {dialog === "save" ? (
        <SaveDialog teamId={teamId} list={list} filters={toSavedFilters(current)} onClose={close} />
      ) : null}
      {dialog === "manage" ? <ManageDialog teamId={teamId} saved={saved} onClose={close} /> : null}
    </>
  );
}

type ChipProps = {
  name: string;
  path: string;
  filters: Record<string, string>;
  isActive: boolean;
  onOpen: () => void;
};

/** A saved filter: a link, which a plain click follows without loading the page again. */
function Chip({ name, path, filters, isActive, onOpen }: ChipProps) {
  const hrefOf = useConsoleHref();
  const follow = (event: MouseEvent) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
    onOpen();
  };
  return (
    <a
      href={hrefOf(path, filters)}
      title={name}
      aria-current={isActive ? "true" : undefined}
      onClick={follow}
      className={`inline-flex h-8 min-w-0 max-w-60 shrink-0 items-center rounded-full border px-3 text-xs max-md:h-11 ${
        isActive ? "border-accent bg-sunk font-medium text-ink" : "border-line text-soft hover:bg-sunk"
      }`}
    >
      <span className="truncate">{name}</span>
    </a>
  );
}

function isSame(a: Record<string, string>, b: Record<string, string>): boolean {
  const names = Object.keys(a);
  return names.length === Object.keys(b).length && names.every((name) => a[name] === b[name]);
}

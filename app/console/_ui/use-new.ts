"use client";

import { parseAsBoolean, useQueryState } from "nuqs";
import { useEffect, useState } from "react";
import type { Permission } from "#server/shared/roles";
import { useCan } from "./team";

/**
 * Whether the "create" form of a page is open. `?new=true` in the URL, which the palette uses, opens it; for
 * a second form of the page, another `parameter`. The parameter is removed at once, so the back button does
 * not open the form again. It stays closed for users without the `permission`.
 */
export function useNew(
  permission?: Permission,
  parameter: "new" | "import" = "new",
): [boolean, (open: boolean) => void] {
  const can = useCan();
  const [isOpen, setOpen] = useState(false);
  const [isRequested, setRequested] = useQueryState(parameter, parseAsBoolean);
  useEffect(() => {
    if (!isRequested) return;
    setOpen(true);
    void setRequested(null);
  }, [isRequested, setRequested]);
  return [isOpen && (permission === undefined || can(permission)), setOpen];
}

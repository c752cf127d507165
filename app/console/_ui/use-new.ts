"use client";

import { parseAsBoolean, useQueryState } from "nuqs";
import { useEffect, useState } from "react";
import type { Right } from "#server/roles";
import { useMay } from "./team";

/**
 * Whether a page's form for a new thing is open. An address with `?new=true`, as the palette has it, opens it and loses that
 * at once, so that going back does not open it again. Closed to whoever lacks the `right`.
 */
export function useNew(right?: Right): [boolean, (open: boolean) => void] {
  const may = useMay();
  const [isOpen, setOpen] = useState(false);
  const [isAsked, setAsked] = useQueryState("new", parseAsBoolean);
  useEffect(() => {
    if (!isAsked) return;
    setOpen(true);
    void setAsked(null);
  }, [isAsked, setAsked]);
  return [isOpen && (right === undefined || may(right)), setOpen];
}

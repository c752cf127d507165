"use client";

import type { ReactNode } from "react";
import { faultOf } from "../fault";
import { cardStyle } from "../styles";
import { FaultNote } from "../text/notes";

type Query = { data: unknown; error: unknown; refetch: () => unknown };

/** Renders its children, or the error if the query has never succeeded. A failed refetch keeps the data it has. */
export function Fetched({ by: { data, error, refetch }, children }: { by: Query; children: ReactNode }) {
  if (!error || data) return children;
  return (
    <div className={cardStyle}>
      <FaultNote fault={faultOf(error)} onRetry={() => void refetch()} />
    </div>
  );
}

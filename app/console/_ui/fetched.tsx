"use client";

import type { ReactNode } from "react";
import { faultOf } from "./fault";
import { FaultNote } from "./notes";
import { cardStyle } from "./styles";

type Asked = { data: unknown; error: unknown; refetch: () => unknown };

/** What was asked for; or, where it never came, why not. What did come stays while a later call fails. */
export function Fetched({ by: { data, error, refetch }, children }: { by: Asked; children: ReactNode }) {
  if (!error || data) return children;
  return (
    <div className={cardStyle}>
      <FaultNote fault={faultOf(error)} onRetry={() => void refetch()} />
    </div>
  );
}

"use client";

import { useState } from "react";

/** One step of the sign-in: at most one request at a time, and the error of the last one. */
export function useStep() {
  const [busyWith, setBusyWith] = useState<string | null>(null);
  const [fault, setFault] = useState<string | null>(null);
  return {
    /** The name of the request in progress. */
    busyWith,
    isBusy: busyWith !== null,
    fault,
    /**
     * Sends a request that returns its error message, or null. After null the step stays busy: the next page
     * loads.
     */
    run: async (name: string, request: () => Promise<string | null>): Promise<void> => {
      setBusyWith(name);
      setFault(null);
      const message = await request();
      if (message === null) return;
      setFault(message);
      setBusyWith(null);
    },
    reset: () => {
      setBusyWith(null);
      setFault(null);
    },
  };
}

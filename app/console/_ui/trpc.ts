"use client";

import { createTRPCContext } from "@trpc/tanstack-react-query";
import type { AppRouter } from "#server/trpc/router";

/** The tRPC hooks of the console, typed by the router. */
export const { TRPCProvider, useTRPC } = createTRPCContext<AppRouter>();

import { z } from "zod";
import { documentOf } from "./openapi/document";
import { type Route, withApi } from "./route";

/** Tells what all routes declare, itself among them. It is made once, when it is first asked for. */
export function referenceOf(listRoutes: () => readonly Route[]): Route {
  let document: ReturnType<typeof documentOf> | undefined;
  return withApi(
    {
      method: "GET",
      path: "/api/openapi.json",
      access: "public",
      tier: "none",
      summary: "Show this reference as an OpenAPI 3.1 document",
      answer: z.looseObject({
        openapi: z.literal("3.1.1"),
        info: z.looseObject({ title: z.string(), version: z.string() }),
        paths: z.record(z.string(), z.unknown()),
      }),
    },
    async () => {
      document ??= documentOf(listRoutes());
      return { body: document };
    },
  );
}

"use client";

import { useTheme } from "next-themes";
import { useEffect, useRef, useState } from "react";
import { SAMPLES } from "./samples";
import "swagger-ui-dist/swagger-ui.css";
import "./docs.css";

/** Nothing outside this installation is asked for, and no key is kept beyond the page. */
const OPTIONS = {
  url: "/api/openapi.json",
  validatorUrl: null,
  persistAuthorization: false,
  queryConfigEnabled: false,
  deepLinking: true,
  docExpansion: "list",
  defaultModelsExpandDepth: 0,
  tryItOutEnabled: true,
  filter: true,
};

/** The reference component, loaded when somebody wants to read. It brings a React of its own and lives beside ours. */
export function Reference() {
  const place = useRef<HTMLDivElement>(null);
  const [state, setState] = useState<"loading" | "shown" | "failed">("loading");
  const { resolvedTheme } = useTheme();

  useEffect(() => {
    // A place for each life of this component: two of the other React must not share one.
    const own = document.createElement("div");
    place.current?.append(own);
    let isGone = false;
    const load = async () => {
      const { default: SwaggerUI } = await import("swagger-ui-dist/swagger-ui-es-bundle.js");
      if (isGone) return;
      SwaggerUI({ ...OPTIONS, domNode: own, plugins: [SAMPLES], onComplete: () => setState("shown") });
    };
    load().catch(() => setState("failed"));
    return () => {
      isGone = true;
      own.remove();
    };
  }, []);

  useEffect(() => {
    document.documentElement.classList.toggle("dark-mode", resolvedTheme === "dark");
    return () => document.documentElement.classList.remove("dark-mode");
  }, [resolvedTheme]);

  return (
    <>
      {state === "shown" ? null : (
        <p className="px-4 py-12 text-center text-soft" role="status">
          {state === "loading"
            ? "Loading the reference…"
            : "The reference could not be loaded. Load the page again, or read openapi.json."}
        </p>
      )}
      <div ref={place} />
    </>
  );
}

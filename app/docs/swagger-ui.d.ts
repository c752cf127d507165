/** The parts of the reference component that we use; it brings no types. */
declare module "swagger-ui-dist/swagger-ui-es-bundle.js" {
  import type { ComponentType, ReactNode } from "react";

  type Inner = ComponentType<Record<string, unknown>>;

  /** What a plugin is handed: the component's own React, and the document that it read. */
  export type System = {
    React: typeof import("react");
    specSelectors: { specJson(): { getIn(path: string[]): { toJS(): unknown } | undefined } };
  };

  export type Options = {
    domNode: HTMLElement;
    url: string;
    plugins: {
      wrapComponents: Record<
        string,
        (Original: Inner, system: System) => (props: Record<string, unknown>) => ReactNode
      >;
    }[];
    onComplete(): void;
    [option: string]: unknown;
  };

  const SwaggerUI: (options: Options) => unknown;
  export = SwaggerUI;
}

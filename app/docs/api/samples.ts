import type { Options, System } from "swagger-ui-dist/swagger-ui-es-bundle.js";

type Sample = { label: string; source: string };

/** A Swagger UI plugin that shows the `x-codeSamples` of each operation above its responses. */
export const SAMPLES: Options["plugins"][number] = {
  wrapComponents: {
    responses: (Original, system) => (props) => {
      const { createElement, Fragment } = system.React;
      const samples = samplesOf(system, String(props.path), String(props.method));
      return createElement(
        Fragment,
        null,
        createElement(Samples, { react: system.React, samples }),
        createElement(Original, props),
      );
    },
  },
};

function samplesOf({ specSelectors }: System, path: string, method: string): Sample[] {
  const found = specSelectors.specJson().getIn(["paths", path, method, "x-codeSamples"])?.toJS();
  return (found ?? []) as Sample[];
}

/** Rendered by the React copy of Swagger UI. It must not use ours. */
function Samples({ react, samples }: { react: System["React"]; samples: Sample[] }) {
  const { createElement } = react;
  const [chosen, setChosen] = react.useState(0);
  const source = samples[chosen]?.source ?? "";
  const choices = samples.map(({ label }, index) => {
    const onClick = () => setChosen(index);
    const props = { key: label, type: "button", className: "btn", "aria-pressed": index === chosen, onClick };
    return createElement("button", props, label);
  });
  const copy = () => void navigator.clipboard.writeText(source);
  return createElement(
    "section",
    { className: "code-samples" },
    createElement(
      "div",
      { className: "opblock-section-header" },
      createElement("h4", null, "Code samples"),
      createElement(
        "div",
        { className: "code-samples-choice" },
        ...choices,
        createElement("button", { type: "button", className: "btn", onClick: copy }, "Copy"),
      ),
    ),
    // A scrollable element must be reachable with the keyboard.
    createElement("pre", { tabIndex: 0 }, createElement("code", null, source)),
  );
}

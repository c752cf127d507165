import type { Options, System } from "swagger-ui-dist/swagger-ui-es-bundle.js";

type Sample = { label: string; source: string };

/** Shows above the answers of each operation how the call is written: what the document has in `x-codeSamples`. */
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

/** Is drawn by the component's own React, so it must not touch ours. */
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
      createElement("h4", null, "In code"),
      createElement(
        "div",
        { className: "code-samples-choice" },
        ...choices,
        createElement("button", { type: "button", className: "btn", onClick: copy }, "Copy"),
      ),
    ),
    // What scrolls must be reachable by the keyboard.
    createElement("pre", { tabIndex: 0 }, createElement("code", null, source)),
  );
}

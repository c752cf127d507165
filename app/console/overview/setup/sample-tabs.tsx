"use client";

import { Tabs } from "../../_ui/page/tabs";
import { CodeBlock } from "../../_ui/text/code-block";
import { formatSamples, type SampleOptions } from "./samples";

/** The examples, one tab per language. */
export const SampleTabs = (options: SampleOptions) => (
  <Tabs
    label="Send the first email with"
    tabs={formatSamples(options).map(({ value, label, title, text }) => ({
      value,
      label,
      content: (
        <div className="pt-4">
          <CodeBlock text={text} label={title} />
        </div>
      ),
    }))}
  />
);

import { Fragment } from "react";

/** A URL that wraps after its slashes, and inside a word only if that is not enough. */
export function BreakableUrl({ children: url }: { children: string }) {
  let end = 0;
  return (
    <span className="wrap-anywhere">
      {url.split(/(?<=\w\/)/).map((part) => {
        end += part.length;
        return (
          <Fragment key={end}>
            {part}
            <wbr />
          </Fragment>
        );
      })}
    </span>
  );
}

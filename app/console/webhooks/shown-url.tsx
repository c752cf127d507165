import { Fragment } from "react";

/** An address that breaks after its slashes where it has to, and inside of a word only where that is not enough. */
export function ShownUrl({ children: url }: { children: string }) {
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

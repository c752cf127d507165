import type { Metadata } from "next";
import { notFound } from "next/navigation";
import { isPageOperator } from "#server/trpc/caller";
import { consolePage } from "../console-page";

/**
 * A page of the installation: for everybody but its operators it does not exist. The procedures check that
 * again.
 */
export const operatorPage = <Path extends string>(
  path: Path,
  load: Parameters<typeof consolePage<Path>>[1],
): ReturnType<typeof consolePage<Path>> =>
  consolePage(path, async (request) => ((await isPageOperator()) ? load(request) : notFound()));

/** The title of such a page, which is not its title for other users. */
export const operatorTitle = (title: string) => async (): Promise<Metadata> => ({
  title: (await isPageOperator()) ? title : "Not found",
});

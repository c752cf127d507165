import { useIsOperator } from "../team";
import { type ConsolePage, INSTALLATION, PAGES } from "./pages";

const OPERATOR_PAGES: readonly ConsolePage[] = [...PAGES, INSTALLATION];

/** The pages that the user can open. */
export const usePages = (): readonly ConsolePage[] => (useIsOperator() ? OPERATOR_PAGES : PAGES);

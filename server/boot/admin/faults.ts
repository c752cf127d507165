import { SettingsError } from "#server/env";
import { AppError } from "#server/errors";
import { explainDatabaseFault } from "../database-faults";
import { Refusal } from "../refusal";

/** A fault in a sentence for the operator's terminal: what was wrong, and where we know it, what would work. */
export function explainFault(error: unknown): string {
  if (error instanceof AppError || error instanceof Refusal || error instanceof SettingsError)
    return error.message;
  if (!(error instanceof Error)) return String(error);
  const explained = explainDatabaseFault(error);
  if (explained !== null) return explained;
  const root = error.cause instanceof Error ? error.cause : error;
  return `This should not have happened: ${root.message || root.name}`;
}

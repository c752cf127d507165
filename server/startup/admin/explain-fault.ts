import { SettingsError } from "#server/platform/env/settings";
import { AppError } from "#server/platform/errors";
import { explainDatabaseFault } from "../install/database-faults";
import { OperatorError } from "../launcher/operator-error";

/** Formats an error for the operator's terminal: what is wrong and, if known, how to fix it. */
export function explainFault(error: unknown): string {
  if (error instanceof AppError || error instanceof OperatorError || error instanceof SettingsError)
    return error.message;
  if (!(error instanceof Error)) return String(error);
  const explained = explainDatabaseFault(error);
  if (explained !== null) return explained;
  const root = error.cause instanceof Error ? error.cause : error;
  return `Unexpected error: ${root.message || root.name}`;
}

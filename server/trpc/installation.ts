import "server-only";
import { getConsoleDeps, getSettingFaults } from "#server/auth/deps";
import { NOT_MIGRATED, readSchemaState } from "#server/services/health";

/** Why no page works, and what the operator can do. Each step names a setting if it is about one. */
export type InstallationFault = { title: string; steps: { setting?: string; text: string }[] };

let isKnownMigrated = false;

/**
 * Why no page of this installation works; null if there is no such reason. The database is asked until it is migrated.
 */
export async function findInstallationFault(): Promise<InstallationFault | null> {
  const faults = getSettingFaults();
  if (faults)
    return {
      title: "Settings are not valid",
      steps: faults.map(({ name, reason }) => ({ setting: name, text: reason })),
    };
  if (isKnownMigrated) return null;
  const state = await readSchemaState(getConsoleDeps());
  isKnownMigrated = state === "migrated";
  return state === "not_migrated"
    ? { title: "The database is not migrated", steps: [{ text: NOT_MIGRATED }] }
    : null;
}
